"""The `Workspace` port on real git: the Issue branch in the program's own repository, and the checkout of Sessions."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.ci.expectation import Pushed
from bot.failures import RunFailed
from bot.git import Done, Git, evidence, last_line, unreachable
from bot.patch import read_patch
from bot.ports import FileChange, Merge

_OPEN = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
)
"""What can be in progress in a checkout, by the name of the file in `.git`, and the command that aborts it."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who commits what the program itself commits."""

    name: str
    email: str
    sign_off: bool = False


class GitWorkspace:
    """The `Workspace` port on real git."""

    def __init__(self, git: Git, identity: Identity, patches: Path) -> None:
        """`patches` is a folder that outlives the Run; it is made when needed."""
        self._git = git
        self._identity = identity
        self._patches = patches
        self._base = ""
        self._branch = ""
        self._base_commit = ""
        self._pushed_over = ""

    # ── the Workspace port ──────────────────────────────────────────────────────────────────────────────────────

    def prepare(self, *, base: str, branch: str, checkpoint: str) -> tuple[str, str]:
        """Fetch base and (where it exists) the Issue branch, and check the Issue branch out; (base commit, head).

        `checkpoint`, if it is known here, is where an earlier Run got to; it is the head where it builds on the branch.
        """
        self._base, self._branch = base, branch
        shutil.rmtree(self._git.checkout, ignore_errors=True)
        self._git.open()
        self._git.fetch(base)
        self._base_commit = self._git.commit(f"refs/remotes/origin/{base}")
        if self.remote_head():
            self._git.fetch(branch)
            head = self._git.commit(f"refs/remotes/origin/{branch}")
        else:
            head = self._base_commit
        if checkpoint and self._follows(checkpoint, head):
            head = checkpoint
        self._git.local("update-ref", f"refs/heads/{branch}", head)
        self._check_out(head)
        return self._base_commit, head

    def _follows(self, checkpoint: str, head: str) -> bool:
        """Whether `checkpoint` is there and holds all that is on the branch; a Base branch may have moved on."""
        if self._git.local("cat-file", "-e", f"{checkpoint}^{{commit}}", check=False).code:
            return False
        if head == self._base_commit:
            return not self._git.local("merge-base", checkpoint, head, check=False).code
        return not self._git.local("merge-base", "--is-ancestor", head, checkpoint, check=False).code

    def reopen(self, *, base: str, branch: str, base_commit: str) -> bool:
        """Go on in what an earlier process of this job prepared; False when it is not there."""
        self._base, self._branch, self._base_commit = base, branch, base_commit
        return self._git.bare.is_dir() and (self._git.checkout / ".git").is_dir()

    def sample_base(self) -> str:
        """Fetch the Base branch; its tip."""
        self._git.fetch(self._base)
        return self._git.commit(f"refs/remotes/origin/{self._base}")

    def contains(self, commit: str) -> bool:
        """Whether the Issue branch contains `commit`."""
        words = ("merge-base", "--is-ancestor", commit, f"refs/heads/{self._branch}")
        return not self._git.local(*words, check=False).code

    def merge(self, commit: str) -> Merge:
        """Merge a sampled base commit in the checkout; a conflict is left open there for a Repair.

        Raises `RunFailed` (`branch_conflict`) when the histories have nothing in common.
        """
        head = self._git.commit(f"refs/heads/{self._branch}")
        if self.contains(commit):
            return Merge(head, ())
        ref = f"refs/remotes/origin/{self._base}"
        self._git.in_checkout("fetch", "--quiet", "--no-tags", str(self._git.bare), f"+{ref}:{ref}")
        message = f"Merge branch '{self._base}' into {self._branch}"
        words = ("merge", "--quiet", "--no-ff", "--no-verify", "--no-gpg-sign", "--no-edit", "-m", message, commit)
        done = self._git.in_checkout(*self._author(), *words, check=False)
        if not done.code:
            self._base_commit = commit
            return Merge(self._take_over(head), ())
        out = self._git.in_checkout("diff", "--name-only", "--diff-filter=U", "-z").out
        conflicts = tuple(path for path in out.split("\0") if path)
        if not conflicts:
            said = done.err or done.out
            raise RunFailed("branch_conflict", f"`{self._base}` cannot be merged: {last_line(said)}", evidence(said))
        self._base_commit = commit
        return Merge(head, conflicts)

    def collect(self, message: str) -> str:
        """Commit what the Session left uncommitted and take its commits over; the new head.

        A merge that the Session resolved and staged is concluded; whatever else it left open is aborted. Raises
        `RunFailed` (`branch_conflict`) when the Session's commits no longer build on the Issue branch.
        """
        self._close_what_is_open()
        before = self._git.commit(f"refs/heads/{self._branch}")
        self._git.in_checkout("add", "--all")
        if self._git.in_checkout("diff", "--cached", "--quiet", check=False).code:
            self._git.in_checkout(
                *self._author(), "commit", "--quiet", "--no-verify", "--no-gpg-sign", *self._signed(), "-m", message
            )
        return self._take_over(before)

    def _close_what_is_open(self) -> None:
        git = self._git.checkout / ".git"
        if (git / "MERGE_HEAD").exists():
            unmerged = self._git.in_checkout("ls-files", "--unmerged").out
            said = self._git.in_checkout("diff", "--cached", "--check", check=False).out
            if not unmerged and "leftover conflict marker" not in said:
                words = ("commit", "--quiet", "--no-verify", "--no-gpg-sign", "--no-edit")
                self._git.in_checkout(*self._author(), *words)
            else:
                self._git.in_checkout("merge", "--abort", check=False)
        for what, verb in _OPEN:
            if (git / what).exists():
                self._git.in_checkout(verb, "--abort", check=False)

    def _take_over(self, before: str) -> str:
        """Fetch the checkout's HEAD into the program's repository, if it builds on `before`."""
        self._git.local("fetch", "--quiet", "--no-tags", str(self._git.checkout), "+HEAD:refs/nightjar/session")
        head = self._git.commit("refs/nightjar/session")
        if self._git.local("merge-base", "--is-ancestor", before, head, check=False).code:
            raise RunFailed(
                "branch_conflict",
                f"the session left {head[:10]} checked out, which does not build on the Issue branch at {before[:10]}",
            )
        self._git.local("update-ref", f"refs/heads/{self._branch}", head)
        return head

    def push(self) -> str:
        """Push the Issue branch, fast-forward only; its commit id as read back from the remote. Raises `RunFailed`."""
        head = self._git.commit(f"refs/heads/{self._branch}")
        ref = f"refs/heads/{self._branch}"
        self._pushed_over = self.remote_head() or self._base_commit
        done = self._git.network("push", "--quiet", "--porcelain", self._git.remote.url, f"{ref}:{ref}")
        # A push whose answer was lost is refused when git sends it again.
        found = self.remote_head() if done.code == 0 or "rejected]" in done.out else ""
        if found == head:
            return head
        raise self._push_refused(done, found, head)

    def remote_head(self) -> str:
        """The Issue branch on the remote, or "" when there is none."""
        ref = f"refs/heads/{self._branch}"
        return self._git.remote_ref(ref)

    def ahead(self) -> int:
        """Number of commits on the head that the base commit lacks."""
        return int(self._git.local("rev-list", "--count", f"{self._base_commit}..refs/heads/{self._branch}").out)

    def changed(self, before: str, after: str) -> tuple[FileChange, ...]:
        """What differs between two commits, and from the base commit too: what a merge of it brought is left out."""
        out = self._git.local("diff", "--name-only", "-z", "--no-renames", self._base_commit, after).out
        own = {path for path in out.split("\0") if path}
        options = ("--find-renames", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv")
        patch = self._git.local("-c", "core.quotePath=false", "diff", *options, before, after).out
        return tuple(change for change in read_patch(patch) if change.path in own)

    def subjects(self) -> tuple[str, ...]:
        """First lines of the messages of the commits over base, oldest first."""
        span = f"{self._base_commit}..refs/heads/{self._branch}"
        return tuple(self._git.local("log", "--reverse", "--no-merges", "--format=%s", span).out.splitlines())

    def pushed(self) -> Pushed:
        """The head as CI meets it. What the last push changed is known after a push by this process only."""
        head = f"refs/heads/{self._branch}"
        return Pushed(
            head=self._git.commit(head),
            branch=self._branch,
            base=self._base,
            files=self._workflow_files(head),
            paths=self._changed_paths(f"{self._base_commit}...{head}"),
            pushed_paths=self._changed_paths(f"{self._pushed_over}..{head}") if self._pushed_over else None,
            message=self._git.local("log", "-1", "--format=%B", head).out,
            base_commit=self._base_commit,
        )

    def _changed_paths(self, span: str) -> tuple[str, ...]:
        out = self._git.local("diff", "--name-only", "-z", "--no-renames", span).out
        return tuple(path for path in out.split("\0") if path)

    def _workflow_files(self, head: str) -> Mapping[str, str]:
        out = self._git.local("ls-tree", "-r", "-z", "--name-only", head, ".github/workflows/").out
        paths = [path for path in out.split("\0") if path.endswith((".yml", ".yaml")) and path.count("/") == 2]
        return {path: self._git.local("cat-file", "blob", f"{head}:{path}").out for path in paths}

    def keep_patch(self) -> str:
        """Keep what the Issue branch has over the base commit as a patch beside the transcripts; its name."""
        span = f"{self._base_commit}..refs/heads/{self._branch}"
        out = self._git.local("format-patch", "--stdout", "--binary", span).out
        self._patches.mkdir(parents=True, exist_ok=True)
        path = self._patches / f"{self._branch.replace('/', '-')}.patch"
        path.write_text(out, encoding="utf-8")
        return path.name

    # ── git ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _check_out(self, head: str) -> None:
        """A clone with objects of its own, no remote, and `origin/<base>` to compare with: nothing to push to, nothing
        to fetch with.
        """
        self._git.local(
            "clone",
            "--quiet",
            "--no-hardlinks",
            "--no-checkout",
            "--no-tags",
            str(self._git.bare),
            str(self._git.checkout),
        )
        self._git.in_checkout("remote", "remove", "origin")
        self._git.in_checkout("update-ref", f"refs/remotes/origin/{self._base}", self._base_commit)
        self._git.in_checkout("config", "user.name", self._identity.name)
        self._git.in_checkout("config", "user.email", self._identity.email)
        self._git.in_checkout("checkout", "--quiet", "-B", self._branch, head)

    def _author(self) -> tuple[str, ...]:
        return ("-c", f"user.name={self._identity.name}", "-c", f"user.email={self._identity.email}")

    def _signed(self) -> tuple[str, ...]:
        return ("--signoff",) if self._identity.sign_off else ()

    @staticmethod
    def _push_refused(done: Done, found: str, head: str) -> RunFailed:
        said = f"{done.out}\n{done.err}"
        if done.code == 0:
            return RunFailed(
                "push_rejected", f"the push was accepted, but the remote's branch is at {found[:10]}, not {head[:10]}"
            )
        if "workflow" in said and "permission" in said:
            return RunFailed("push_workflow_forbidden", f"the push was refused: {last_line(said)}", evidence(said))
        if "non-fast-forward" in said or "fetch first" in said:
            return RunFailed(
                "handed_over", "somebody else pushed to the Issue branch meanwhile; their commits were left alone"
            )
        if "[rejected]" not in said and "[remote rejected]" not in said:
            return unreachable("the push did not get through", done)
        return RunFailed("push_rejected", f"the push was refused: {last_line(said)}", evidence(said))
