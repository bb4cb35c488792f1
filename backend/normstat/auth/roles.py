"""The three roles, each with more rights than the one before."""

from enum import StrEnum


class Role(StrEnum):
    """viewer reads; operator also creates baselines; administrator also manages hosts, accounts and tokens."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMINISTRATOR = "administrator"

    @property
    def rank(self) -> int:
        """Return the rank of the role; 0 has the fewest rights."""
        return list(Role).index(self)

    def reaches(self, needed: "Role") -> bool:
        """Return whether this role has the rights of `needed`."""
        return self.rank >= needed.rank


def lower_role(first: Role, second: Role) -> Role:
    """Return the role with fewer rights."""
    return first if second.reaches(first) else second
