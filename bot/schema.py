"""The settings file's JSON Schema, for editors: made from the table of settings, whose kinds know their own.

`python -m bot.schema` prints it as it stands in `docs/nightjar.schema.json`. It is never stricter than the reader,
which also knows what no schema can say: double keys, anchors, what git and `claude` take.
"""

from __future__ import annotations

import json

from bot.kinds import Schema
from bot.labels import MAX_LABEL
from bot.setting import Setting
from bot.settings import PROFILES, SCHEMA_URL, SETTINGS, profiles_meaning


def settings_schema() -> Schema:
    """The schema, draft 7: what editors know best."""
    in_file = {name: _property(setting) for name, setting in SETTINGS.items() if setting.in_file}
    in_profile = {name: {"$ref": f"#/properties/{name}"} for name, setting in SETTINGS.items() if setting.in_profile}
    profiles = {
        "description": profiles_meaning(),
        "type": "object",
        "propertyNames": {"minLength": 1, "maxLength": MAX_LABEL},
        "additionalProperties": {"type": "object", "properties": in_profile, "additionalProperties": False},
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_URL,
        "title": "Settings of Nightjar, .github/nightjar.yml",
        "type": ["object", "null"],
        "properties": {**in_file, PROFILES: profiles},
        "additionalProperties": False,
    }


def schema_text() -> str:
    """The schema as one JSON document."""
    return json.dumps(settings_schema(), indent=2, ensure_ascii=False) + "\n"


def _property(setting: Setting) -> Schema:
    default = f" Default: {setting.default or setting.unset}."
    return {"description": f"{setting.meaning}{default}", **setting.kind.schema}


if __name__ == "__main__":
    print(schema_text(), end="")
