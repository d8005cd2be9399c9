# SPDX-License-Identifier: GPL-2.0
"""The source as the scripts beside this file look at it."""
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[2]

# A string may have in it what looks like a comment, and is none.
TOKEN = re.compile(r""" "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | (?P<comment> /\*.*?\*/ | //[^\n]*) """, re.S | re.X)


def without_comments(text):
    """Lines keep their numbers."""
    return TOKEN.sub(lambda m: " " + "\n" * m[0].count("\n") if m["comment"] else m[0], text)


def code(text):
    """Without comments, strings and preprocessor lines."""
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', without_comments(text))
    return re.sub(r"^#.*(?:\\\n.*)*", "", text, flags=re.M)


def macro_bodies(text):
    """What the macros of @text, which may have comments, are replaced by; without strings."""
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', without_comments(text))
    return "\n".join(re.findall(r"^#[ \t]*define[ \t]+\w+(?:\([^()]*\))?((?:\\\n|[^\n])*)", text, re.M))


def without_attributes(text):
    """Without __printf(1, 2) and its like, which look like functions."""
    return re.sub(r"\b__\w+\([^()]*\)", "", text)


def source_files(folder, top=TOP):
    """What is built of @folder; what a build has left there is not."""
    return [f for f in sorted(pathlib.Path(top, folder).rglob("*.[ch]")) if not f.name.endswith(".mod.c")]


def kernel_files(top=TOP):
    return source_files("kernel", top)
