"""Uploaded images and files of reports: images are decoded and written again, so that nothing of the upload itself is shown."""

import io
import re
import warnings
from typing import Final

from PIL import Image, ImageOps, UnidentifiedImageError

from normstat.errors import BadRequest, TooLarge, shorten
from normstat.report.svg_subset import clean_svg
from normstat.runtime.input_limits import MAX_REPORT_FILE_BYTES

MAX_PIXELS: Final = 50_000_000
# Larger images are made smaller: an A4 page at 300 points an inch has 2480 columns.
MAX_SIDE: Final = 4000
IMAGES: Final = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/png"}
SVG_TYPE: Final = "image/svg+xml"
OTHER_TYPE: Final = "application/octet-stream"
MAX_NAME: Final = 200
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|\u202a-\u202e\u2066-\u2069]+")


def safe_file_name(name: str) -> str:
    """Return the last part of a path, without characters that mean something to a shell or a browser.

    >>> safe_file_name("../../etc/passwd"), safe_file_name("C:\\\\x\\\\a b.png"), safe_file_name("..")
    ('passwd', 'a b.png', 'file')
    """
    last = re.split(r"[/\\]", name)[-1]
    cleaned = _UNSAFE.sub("_", last).strip(" .")[-MAX_NAME:]
    return cleaned or "file"


def read_upload(body: bytes, *, as_image: bool) -> tuple[str, bytes]:
    """Return the media type of a file and its bytes to keep: an image is decoded and written again; other files stay as they are.

    Raises: BadRequest for an empty file, or no image where one is wanted; TooLarge
    """
    if not body:
        raise BadRequest("The file is empty; there is nothing to keep")
    if len(body) > MAX_REPORT_FILE_BYTES:
        raise TooLarge(f"The file has {len(body):,} bytes; at most {MAX_REPORT_FILE_BYTES:,} are kept in a report")
    if not as_image:
        return OTHER_TYPE, body
    if body.lstrip()[:1] == b"<" or body[:3] == b"\xef\xbb\xbf":
        return SVG_TYPE, clean_svg(body).encode()
    return _read_picture(body)


def _read_picture(body: bytes) -> tuple[str, bytes]:
    try:
        with warnings.catch_warnings():
            # Pillow's warnings about decompression bombs: the limit below is ours.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(body), formats=tuple(IMAGES)) as found:
                if found.width * found.height > MAX_PIXELS:
                    raise TooLarge(
                        f"The image has {found.width:,} x {found.height:,} pixels; at most {MAX_PIXELS:,} are read. Make it smaller"
                    )
                form = found.format or ""
                # Made smaller first, in place: a turned copy of all pixels would take as much again.
                found.thumbnail((MAX_SIDE, MAX_SIDE))
                return IMAGES[form], _written(ImageOps.exif_transpose(found), form)
    except UnidentifiedImageError:
        raise BadRequest(
            f"This is not PNG, JPEG, WebP or SVG; it begins with {shorten(body[:12].decode('latin-1'))}. Attach it as a file"
        ) from None
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise BadRequest(f"The image is damaged: {error}. Save it again, or attach it as a file") from None


def _written(picture: Image.Image, form: str) -> bytes:
    out = io.BytesIO()
    if form == "JPEG":
        picture.convert("RGB").save(out, "JPEG", quality=90)
    else:
        (picture if picture.mode in {"1", "L", "LA", "RGB", "RGBA"} else picture.convert("RGBA")).save(out, "PNG")
    return out.getvalue()
