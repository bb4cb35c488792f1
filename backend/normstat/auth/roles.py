"""The three roles, each reaching as far as the one before it and further."""

from enum import StrEnum


class Role(StrEnum):
    """viewer reads; operator also marks baselines; administrator also manages hosts, accounts and tokens."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMINISTRATOR = "administrator"

    @property
    def rank(self) -> int:
        """0 for the role that may do least."""
        return list(Role).index(self)

    def reaches(self, needed: "Role") -> bool:
        """Return whether this role may do what `needed` may do."""
        return self.rank >= needed.rank


def lower_role(first: Role, second: Role) -> Role:
    """Return the one of the two that may do less."""
    return first if second.reaches(first) else second
