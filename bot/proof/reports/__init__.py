"""What test runners report: JUnit XML, and what pytest, unittest, `go test` and TAP producers print."""
