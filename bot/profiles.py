"""The settings of a Run that an earlier job began: those of the label that asked for it, as they are now. Pure."""

from __future__ import annotations

from bot.config import Config
from bot.record import Record


def settings_of(record: Record, config: Config) -> tuple[Record, Config]:
    """The Run's own settings among `config`; the Record notes it when its label stands for none any more."""
    label = record.trigger.label
    if label != config.label and label not in config.labels:
        record = record.noted(f"The label `{label}` stands for no settings any more: those of the file itself count.")
    return record, config.for_label(label)
