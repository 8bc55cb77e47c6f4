"""Reading what `--describe` says: which options take a value, and which words may be given."""

import re


def has_value(option):
    """Whether the next word belongs to it; a value in brackets stands behind '=' only."""
    return bool(option["value"]) and not option["value"].startswith("[")


def choices(option):
    """The words among its values; what is written in capitals stands for something else."""
    return [word for word in option["value"].strip("[=]").split("|") if re.fullmatch(r"[a-z0-9][a-z0-9._-]*", word)]


def named(description):
    return [option for option in description["options"] if option["names"]]


def arguments(description):
    return [option for option in description["options"] if option["argument"]]


def long_name(option):
    return option["names"][-1]
