"""Lines whose cells are parted by commas, as `iostat -r` of Solaris prints them: the same table with blanks between its cells.

extended device statistics,errors
device,r/s,w/s,kr/s,kw/s,wait,actv,svc_t,%w,%b,s/w,h/w,trn,tot
sd0,5.1,22.4,41.8,220.1,0.0,0.2,8.1,0,11,0,0,0,0
"""

import re
from typing import Final

# No cell but the title has a blank in it, so a line with decimal commas is not meant.
LINE: Final = re.compile(rb"(?:extended device statistics|[^,\s]*)(?:,[^,\s]*)+")
# illumos prints no comma before the last column of `iostat -xner`.
RUN_TOGETHER: Final = (b",totdevice", b",tot,device")


def blank_commas(line: bytes) -> bytes:
    """Return the line with blanks for its commas, or any other line as it is.

    >>> blank_commas(b"sd0,5.1,22.4"), blank_commas(b"sd0  5,1  22,4"), blank_commas(b"%b,s/w,h/w,trn,totdevice")
    (b'sd0 5.1 22.4', b'sd0  5,1  22,4', b'%b s/w h/w trn tot device')
    """
    if b"," not in line or LINE.fullmatch(line) is None:
        return line
    return line.replace(*RUN_TOGETHER).replace(b",", b" ")
