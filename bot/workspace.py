"""The `Workspace` port on real git: the Issue branch in the program's own repository, and the checkout of Sessions."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bot.ci.expectation import Pushed
from bot.failures import RunFailed
from bot.git import Done, Git, evidence, last_line, unreachable
from bot.guard import Redactor
from bot.guard.files import clean_file
from bot.guard.leaving import first_secret
from bot.leftovers import close_what_is_open, stage
from bot.outgoing import outgoing
from bot.patch import read_patch
from bot.ports import FileChange, Merge

_SHOWN_SIZE = 1024 * 1024
"""Bytes from which on a file is named when the remote refuses a push."""
_PREPARED = "nightjar.prepared"
"""Where the program's repository says whose Issue branch the checkout is of, once that is whole."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who commits what the program itself commits."""

    name: str
    email: str
    sign_off: bool = False


class GitWorkspace:
    """The `Workspace` port on real git."""

    def __init__(self, git: Git, identity: Identity, patches: Path, redactor: Redactor) -> None:
        """`patches` is a folder that outlives the Run; it is made when needed. No commit with a secret that `redactor`
        finds is pushed, and no patch holds one.
        """
        self._git = git
        self._redactor = redactor
        self._identity = identity
        self._patches = patches
        self._base = ""
        self._branch = ""
        self._base_commit = ""
        self._pushed_over = ""
        self._left_out: tuple[str, ...] = ()
        self._committed = False

    # ── the Workspace port ──────────────────────────────────────────────────────────────────────────────────────

    def prepare(self, *, base: str, branch: str, checkpoint: str) -> tuple[str, str]:
        """Fetch base and (where it exists) the Issue branch, and check the Issue branch out; (base commit, head).

        `checkpoint`, if it is known here, is where an earlier Run got to; it is the head where it builds on the branch.
        Raises `RunFailed`: `branch_conflict` when there can be no such branch, or it has nothing in common with base.
        """
        self._base, self._branch = base, branch
        shutil.rmtree(self._git.checkout, ignore_errors=True)
        self._git.open()
        self._git.fetch(base)
        self._base_commit = self._git.commit(f"refs/remotes/origin/{base}")
        if self.remote_head():
            self._git.fetch(branch)
            head = self._git.commit(f"refs/remotes/origin/{branch}")
            if self._git.local("merge-base", head, self._base_commit, check=False).code:
                raise RunFailed("branch_conflict", f"the branches `{branch}` and `{base}` have no commit in common")
        else:
            self._room_for_the_branch()
            head = self._base_commit
        if checkpoint and self._follows(checkpoint, head):
            head = checkpoint
        self._git.local("update-ref", f"refs/heads/{branch}", head)
        self._check_out(head)
        self._git.local("config", _PREPARED, branch)
        return self._base_commit, head

    def _room_for_the_branch(self) -> None:
        """git keeps no branch `a/b` beside a branch `a`, nor beside an `a/b/c`. Raises `RunFailed`."""
        parts = self._branch.split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts))]
        for taken in self._git.remote_branches(*above, f"{self._branch}/*"):
            raise RunFailed(
                "branch_conflict", f"git can keep no branch `{self._branch}` beside `{taken}`, which is on the remote"
            )

    def _follows(self, checkpoint: str, head: str) -> bool:
        """Whether `checkpoint` is there and holds all that is on the branch; a Base branch may have moved on."""
        if self._git.local("cat-file", "-e", f"{checkpoint}^{{commit}}", check=False).code:
            return False
        if head == self._base_commit:
            return not self._git.local("merge-base", checkpoint, head, check=False).code
        return not self._git.local("merge-base", "--is-ancestor", head, checkpoint, check=False).code

    def reopen(self, *, base: str, branch: str, base_commit: str) -> bool:
        """Go on in what was prepared in this job; False when it is not there, or is another Run's: a sweep ends
        several.
        """
        self._base, self._branch, self._base_commit = base, branch, base_commit
        if not (self._git.bare.is_dir() and (self._git.checkout / ".git").is_dir()):
            return False
        return self._git.local("config", _PREPARED, check=False).out.strip() == branch

    def sample_base(self, base: str) -> str:
        """Fetch `base`, the Base branch from here on; its tip."""
        self._base = base
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
            self._base_commit = commit
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
        close_what_is_open(self._git, self._author())
        before = self._git.commit(f"refs/heads/{self._branch}")
        self._left_out = stage(self._git)
        self._committed = self._git.in_checkout("diff", "--cached", "--quiet", check=False).code != 0
        if self._committed:
            self._git.in_checkout(
                *self._author(), "commit", "--quiet", "--no-verify", "--no-gpg-sign", *self._signed(), "-m", message
            )
        return self._take_over(before)

    def left_out(self) -> tuple[str, ...]:
        """What the last `collect` did not commit, by kind, each a few words for people."""
        return self._left_out

    def _take_over(self, before: str) -> str:
        """Bring what the Session leaves into the program's repository: what is checked out where that builds on
        `before`, else what the checkout has as the Issue branch. The commit of what was left uncommitted is the
        program's, and no sign of where the Session did its work.
        """
        head = self._session_commit("HEAD")
        branch = self._session_commit(f"refs/heads/{self._branch}")
        worked_there = branch != before and self._contains(branch, before)
        if self._contains(head, before) and not (worked_there and self._own(head) == before):
            taken = head
        elif worked_there or (branch in ("", before) and self._contains(before, head)):
            taken = branch or before
            if not self._contains(taken, head):
                where, kept = self._what_is_checked_out(), self._keep_not_taken(before, head)
                self._left_out += (f"what was left checked out as {where}, kept as the patch {kept}",)
        else:
            raise self._not_ours(head if branch in ("", before) else branch, before)
        self._git.local("update-ref", f"refs/heads/{self._branch}", taken)
        ref = self._git.in_checkout("symbolic-ref", "--quiet", "HEAD", check=False).out.strip()
        if (ref, head) != (f"refs/heads/{self._branch}", taken):  # the next Session goes on where this one ended
            self._git.in_checkout("checkout", "--quiet", "--force", "-B", self._branch, taken)
        return taken

    def _own(self, head: str) -> str:
        """`head`, or what is below the commit that `collect` has made on it."""
        return self._git.commit(f"{head}^") if self._committed and head else head

    def _session_commit(self, name: str) -> str:
        """The commit that `name` is in the checkout, fetched; "" when there is none."""
        ref = "refs/nightjar/session"
        return "" if self._git.from_checkout(f"+{name}:{ref}").code else self._git.commit(ref)

    def _contains(self, commit: str, older: str) -> bool:
        words = ("merge-base", "--is-ancestor", older, commit)
        return bool(commit and older) and not self._git.local(*words, check=False).code

    def _what_is_checked_out(self) -> str:
        """As people call it."""
        branch = self._git.in_checkout("symbolic-ref", "--quiet", "--short", "HEAD", check=False).out.strip()
        tag = self._git.in_checkout("describe", "--tags", "--exact-match", "HEAD", check=False).out.strip()
        return f"`{branch or tag}`" if branch or tag else "a commit that no branch holds"

    def _not_ours(self, head: str, before: str) -> RunFailed:
        """Why `head` is not taken over. What it holds is kept as a patch."""
        where = self._what_is_checked_out()
        if not head:
            return RunFailed("branch_conflict", f"the session left {where} checked out, which has no commit")
        refused = f"{where} checked out at {head[:10]}, which does not build on the Issue branch at {before[:10]}"
        kept = f"what it holds is kept in the job's logs folder as {self._keep_not_taken(before, head)}"
        return RunFailed("branch_conflict", f"the session left {refused}; {kept}")

    def _keep_not_taken(self, before: str, head: str) -> str:
        """Keep what `head` has over `before`, which it does not build on, as a patch; its name."""
        path = self._patch("not-taken")
        options = ("--no-ext-diff", "--no-textconv", f"--output={path}")
        self._write_patch(path, head, "diff", *options, before, head)
        return path.name

    def push(self) -> str:
        """Push the Issue branch, fast-forward only; its commit id as read back from the remote. Raises `RunFailed`,
        `secret_in_diff` among others: this is the last gate, whoever asks.
        """
        head = self._git.commit(f"refs/heads/{self._branch}")
        ref = f"refs/heads/{self._branch}"
        if secret := self.secret_in(head):
            raise RunFailed("secret_in_diff", secret)
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
        """Number of commits on the head that the base commit lacks; 0 when together they change no file."""
        words = ("diff", "--quiet", "--no-ext-diff", f"{self._base_commit}...refs/heads/{self._branch}")
        if not self._git.local(*words, check=False).code:
            return 0
        return int(self._git.local("rev-list", "--count", f"{self._base_commit}..refs/heads/{self._branch}").out)

    def forked_at(self) -> str:
        """The commit that the Issue branch and the Base branch have in common."""
        return self._git.local("merge-base", self._base_commit, f"refs/heads/{self._branch}").out.strip()

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

    def messages(self, before: str, after: str) -> tuple[str, ...]:
        """Whole messages of the commits that `after` has over `before` and over base, but for merges."""
        words = ("log", "--no-merges", "-z", "--format=%B", after, "--not", before, self._base_commit)
        return tuple(message for message in self._git.local(*words).out.split("\0") if message)

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
        head = f"refs/heads/{self._branch}"
        path = self._patch()
        self._write_patch(path, head, "format-patch", f"--output={path}", f"{self._base_commit}..{head}")
        return path.name

    def secret_in(self, commit: str) -> str:
        """Where a secret stands in what `commit` would carry to the remote, without its value; "" for nowhere."""
        known = (self._base_commit,) if self._base_commit else ()
        with closing(outgoing(self._git, commit, known)) as pieces:
            return first_secret(pieces, self._redactor, self._stands_in_base)

    def _stands_in_base(self, word: str) -> bool:
        words = ("grep", "--quiet", "--text", "--fixed-strings", "-f", "-", self._base_commit)
        return bool(self._base_commit) and not self._git.local(*words, check=False, given=word).code

    def _write_patch(self, path: Path, head: str, *words: str) -> None:
        """Have git write a patch of what `head` holds to `path`. One with a secret in it is written as text, where the
        secret can be replaced, instead of compressed, where nobody would find it.
        """
        command, *rest = words
        if not self.secret_in(head):
            self._git.local(command, "--binary", *rest)
            return
        self._git.local(command, "--text", *rest)
        clean_file(path, self._redactor)

    def _patch(self, *marks: str) -> Path:
        self._patches.mkdir(parents=True, exist_ok=True)
        return self._patches.absolute() / ".".join([self._branch.replace("/", "-"), *marks, "patch"])

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

    def _push_refused(self, done: Done, found: str, head: str) -> RunFailed:
        said = f"{done.out}\n{done.err}"
        if done.code == 0:
            return RunFailed(
                "push_rejected", f"the push was accepted, but the remote's branch is at {found[:10]}, not {head[:10]}"
            )
        if "workflow" in said and "permission" in said:
            return RunFailed("push_workflow_forbidden", f"the push was refused: {_why_refused(done)}", evidence(said))
        if "non-fast-forward" in said or "fetch first" in said:
            return RunFailed(
                "handed_over", "somebody else pushed to the Issue branch meanwhile; their commits were left alone"
            )
        if "[rejected]" not in said and "[remote rejected]" not in said:
            return unreachable("the push did not get through", done)
        reason = f"the push was refused: {_why_refused(done)}{self._largest_file()}"
        return RunFailed("push_rejected", reason, evidence(said))

    def _largest_file(self) -> str:
        """Names the largest file that the push would have brought, if it is of a size that remotes refuse."""
        listed = self._git.local(
            "rev-list", "--objects", f"refs/heads/{self._branch}", f"^{self._pushed_over or self._base_commit}"
        ).out
        asked = "--batch-check=%(objecttype) %(objectsize) %(rest)"
        rows = self._git.local("cat-file", asked, given=listed).out.splitlines()
        files = [(int(size), path) for kind, size, path in (row.split(" ", 2) for row in rows) if kind == "blob"]
        size, path = max(files, default=(0, ""))
        return f"; the largest file in it is `{path}` with {size / 1024**2:.1f} MB" if size >= _SHOWN_SIZE else ""


def _why_refused(done: Done) -> str:
    """What git's porcelain says of the ref, and the remote's own errors."""
    refs = [line.rpartition("\t")[2] for line in done.out.splitlines() if line.startswith("!")]
    errors = [line.strip() for line in done.err.splitlines() if line.startswith("remote: error:")]
    return "; ".join(dict.fromkeys([*refs[:1], *errors[:3]])) or last_line(f"{done.out}\n{done.err}")
