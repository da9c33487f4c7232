"""The reference in docs/settings.md, made from the table of settings.

python -m tests.docs.settings_page        prints it
"""

from __future__ import annotations

from bot.setting import Setting
from bot.settings import PROFILES, SETTINGS, profiles_meaning


def reference() -> str:
    """A heading for each setting: what it means, what it accepts, its default, where it may be given."""
    first, *others = (_section(setting) for setting in SETTINGS.values())
    return "\n\n".join([first, f"### {PROFILES}\n\n{profiles_meaning()}", *others])


def _section(setting: Setting) -> str:
    default = f"`{setting.default}`" if setting.default and setting.default != "none" else setting.unset
    where = "Input" if not setting.in_file else "Input, file, profile" if setting.in_profile else "Input, file"
    facts = f"*Accepts* {setting.kind.allowed}. *Default* {default}. *Where* {where}."
    return f"### {setting.name}\n\n{setting.help}\n\n{facts}"


if __name__ == "__main__":
    print(reference())


def settings_table() -> str:
    """The README's table of settings, as Markdown."""
    rows = []
    for setting in SETTINGS.values():
        default = f"`{setting.default}`" if setting.default and setting.default != "none" else setting.unset
        rows.append(f"| `{setting.name}` | {default} | {setting.meaning} |")
    profiles = f"| `{PROFILES}` | none | {profiles_meaning()} |"
    return "\n".join(["| Setting | Default | Meaning |", "|---|---|---|", rows[0], profiles, *rows[1:]])
