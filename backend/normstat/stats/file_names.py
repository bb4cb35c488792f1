"""What the name of a file tells of the command that printed it."""

import re
from typing import Final

OPTION_WORD: Final = re.compile(r"-[A-Za-z]{1,5}")
# Words that look like options: vmstat-day.txt was not printed by `vmstat -day`.
WORDS: Final = frozenset(
    {"-my", "-day", "-today", "-daily", "-may", "-july", "-by", "-only", "-busy", "-copy", "-try", "-any", "-sys"}
)
ENDINGS: Final = re.compile(r"(?:\.(?:txt|out|log|dat|raw|gz|bz2|xz|zst))+$")


def command_in_name(name: str, tool: str) -> str:
    """Return the command line that a file's name ends with. Missing: "" for any other name.

    >>> command_in_name("web1_iostat_-xy_1_1.txt", "iostat"), command_in_name("iostat -xy 1 1", "iostat")
    ('iostat -xy 1 1', 'iostat -xy 1 1')
    >>> command_in_name("iostat-xy.out.gz", "iostat"), command_in_name("iostat-my.txt", "iostat")
    ('iostat -xy', '')
    """
    before, _, after = ENDINGS.sub("", name).rpartition(tool)
    options = after.lstrip(" _")
    is_tool = tool in name and not before[-1:].isalpha() and options.startswith("-")
    words = re.split(r"[ _]+", options) if is_tool else []
    is_command = all(OPTION_WORD.fullmatch(word) or re.fullmatch(r"\d{1,6}", word) for word in words)
    return " ".join([tool, *words]) if words and is_command and not WORDS.intersection(words) else ""
