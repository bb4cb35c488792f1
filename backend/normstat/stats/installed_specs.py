"""Which user specs this process has installed. Apart from the catalogue, which takes a while to import."""


class Installed:
    """`revision` identifies the state of the installed user specs; "" when there are none."""

    revision: str = ""
