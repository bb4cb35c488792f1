"""Password rules: long passwords that are not among the first to be guessed.

After NIST SP 800-63B: length counts, kinds of characters do not. Refused are common passwords, repetitions, sequences and keyboard
rows, and what any visitor of the login page would try: the account's name, the product's name. zxcvbn, which knows the lists of
leaked passwords and how people vary them, estimates the number of guesses. Passwords set before the rules keep working.
"""

import importlib
from typing import Final

from normstat.auth.passwords import known_lane
from normstat.errors import WeakPassword

MIN_LENGTH: Final = 10
# The throttle leaves an attacker less than 3,000 guesses a day (see throttle.py): this many take ninety years.
MIN_GUESSES: Final = 10**8
PRODUCT: Final = "normstat"
# Shorter names occur in many words by chance ("al", "ann"); the estimate knows them all the same.
MIN_NAME_LENGTH: Final = 4
# The estimate tries all look-alike substitutions, which grows with the length. A part is enough: the whole takes at least as many
# guesses.
MAX_RATED_LENGTH: Final = 20
# Imported when the first password is set: its lists take 15 MB.
ESTIMATOR: Final = "zxcvbn"


async def require_good_password(password: str, *, name: str, who: str, member: str) -> None:
    """Check that the account may get this password; `who` sets it, as a member of the request that the error names.

    Raises: WeakPassword, Overloaded
    """
    if len(password.strip()) < MIN_LENGTH:
        raise WeakPassword(
            f"The password is too short: use at least {MIN_LENGTH} characters, not counting leading and trailing blanks",
            {member: None},
        )
    folded = password.casefold()
    for word, what in ((name, "the account's name"), (PRODUCT, f"the name {PRODUCT}")):
        if len(word) >= MIN_NAME_LENGTH and word.casefold() in folded:
            raise WeakPassword(f"The password contains {what}, which attackers try first; leave it out", {member: None})
    if not await known_lane().run(who, lambda: _is_hard_to_guess(password, name)):
        raise WeakPassword(
            "The password is easy to guess: it is common, a repetition, a sequence or a keyboard row; use a few unrelated words",
            {member: None},
        )


def _is_hard_to_guess(password: str, name: str) -> bool:
    rate = importlib.import_module(ESTIMATOR).zxcvbn
    # One end may be padding ("aaaa..."), so both are checked.
    parts = {password[:MAX_RATED_LENGTH], password[-MAX_RATED_LENGTH:]}
    return any(rate(part, user_inputs=[name, PRODUCT])["guesses"] >= MIN_GUESSES for part in parts)
