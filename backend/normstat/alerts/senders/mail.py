"""Send a message as a mail: plain text and simple HTML, with an id that stays the same in every try."""

import smtplib
import socket
import ssl
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Final

from normstat.alerts.channel_settings import EmailSettings, MailSecurity
from normstat.alerts.senders.dialling import dial
from normstat.alerts.senders.send_outcome import Cutter, SendOutcome, describe_failure, shorten_answer

READ_LIMIT_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to send. `message_id`: without the angle brackets; `thread_id`: of the alert's first mail, empty in that one."""

    subject: str
    text: str
    html: str
    message_id: str
    thread_id: str
    at: datetime


def build_mail(mail: Mail, settings: EmailSettings) -> EmailMessage:
    """Return the mail as it is sent."""
    built = EmailMessage()
    built["From"] = settings.sender
    built["To"] = ", ".join(settings.recipients)
    built["Subject"] = mail.subject
    built["Date"] = format_datetime(mail.at)
    built["Message-ID"] = f"<{mail.message_id}>"
    if mail.thread_id:
        built["In-Reply-To"] = f"<{mail.thread_id}>"
        built["References"] = f"<{mail.thread_id}>"
    # Marks it as automatic: no absence note answers it, and no mailing list forwards it as a person's mail.
    built["Auto-Submitted"] = "auto-generated"
    built["X-Auto-Response-Suppress"] = "All"
    built.set_content(mail.text)
    built.add_alternative(mail.html, subtype="html")
    return built


def send_mail(mail: Mail, settings: EmailSettings, cutter: Cutter) -> SendOutcome:
    """Return how it ended. Accepted for some recipients only is sent: another try would repeat it to those."""
    built = build_mail(mail, settings)
    try:
        with closing(_DialledSmtp(settings, cutter)) as server:
            server.connect(settings.server, settings.port)
            if settings.security is MailSecurity.STARTTLS:
                server.starttls(context=ssl.create_default_context())
                assert server.sock is not None
                cutter.hold(server.sock)
            if settings.username:
                password = settings.password.get_secret_value() if settings.password is not None else ""
                server.login(settings.username, password)
            refused = server.send_message(built)
            # The mail is accepted: a failing QUIT changes nothing.
            with suppress(smtplib.SMTPException, OSError):
                server.quit()
            return SendOutcome(is_sent=True, answer=_describe_refused(refused) or "accepted")
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        return SendOutcome(
            is_sent=False, answer=f"no recipient was accepted: {_describe_refused(error.recipients)}", is_final=min(codes) >= 500
        )
    except smtplib.SMTPResponseException as error:
        text = error.smtp_error.decode("utf-8", "replace") if isinstance(error.smtp_error, bytes) else str(error.smtp_error)
        return SendOutcome(is_sent=False, answer=shorten_answer(f"{error.smtp_code} {text}"), is_final=error.smtp_code >= 500)
    except smtplib.SMTPNotSupportedError as error:
        return SendOutcome(is_sent=False, answer=shorten_answer(str(error)), is_final=True)
    except smtplib.SMTPException as error:
        return SendOutcome(is_sent=False, answer=shorten_answer(str(error) or type(error).__name__))
    except ssl.SSLCertVerificationError as error:
        return SendOutcome(is_sent=False, answer=shorten_answer(f"the certificate is not trusted: {error.verify_message}"))
    except OSError as error:
        return SendOutcome(is_sent=False, answer=describe_failure(error))


class _DialledSmtp(smtplib.SMTP):
    """Connects through `dial`, with TLS from the first byte where that is asked for."""

    def __init__(self, settings: EmailSettings, cutter: Cutter) -> None:
        self._settings = settings
        self._cutter = cutter
        # Without a host it does not connect yet.
        super().__init__(timeout=READ_LIMIT_S, local_hostname=_own_name())
        # The name that certificates are checked for.
        self._host = settings.server

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        """Return the connection that smtplib talks through."""
        connected = dial(host, port)
        self._cutter.hold(connected)
        connected.settimeout(timeout)
        if self._settings.security is MailSecurity.TLS:
            connected = ssl.create_default_context().wrap_socket(connected, server_hostname=host)
            self._cutter.hold(connected)
        return connected


def _own_name() -> str:
    """Return the name for the EHLO greeting. Not getfqdn: a name server may take half a minute for that."""
    name = socket.gethostname()
    return name if name.isascii() and " " not in name else "localhost"


def _describe_refused(refused: dict[str, tuple[int, bytes]]) -> str:
    said = ", ".join(f"{address}: {code} {text.decode('utf-8', 'replace')}" for address, (code, text) in refused.items())
    return shorten_answer(f"refused: {said}" if said else "")
