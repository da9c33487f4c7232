"""What `nightjar doctor` looks at: frozen facts, rules that judge them, and the words for both. Pure."""
