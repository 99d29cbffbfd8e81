"""Who may speak to the server: one middleware before everything."""

import contextlib
import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
MAX_BODY, MAX_FILE = 1 << 20, 64 << 20  # bytes; of a file of statements
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Safety:
    """Lets a request in when host, origin, token and size are right.

    Parameters
    ----------
    app : ASGI application
    token : str
        Given in the address once, then kept in a cookie.
    hosts : set of str
        Names, with port, under which the server may be addressed: a page elsewhere whose name is
        made to lead here brings another one.
    """

    def __init__(self, app: Any, token: str, hosts: set[str], cookie: str):
        self.app, self.token, self.hosts, self.cookie = app, token, hosts, cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or say why not."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self.app(scope, receive, send)
            return
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(send, *refusal, is_page=scope["path"] == "/")
            return
        brings_token = self._is_token(_token_in(scope))

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": _with_headers(message, self._more(brings_token))}
            await send(message)

        await self.app(scope, receive, send_safely)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if host.lower() not in self.hosts:
            return 403, (
                f"This server is not called {host[:100]!a}; open it under the address that "
                "`conclust studio` printed."
            )
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return 403, f"Pages of {origin[:100]!a} may not speak to this server."
        is_page = scope["path"] == "/" and scope["method"] == "GET"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not is_page:
            return 403, "Another page may not speak to this server."
        limit = MAX_FILE if scope["path"] == "/api/import" else MAX_BODY
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > limit:
            return 413, f"The request is larger than {limit:,} bytes."
        if not self._is_known(scope, headers):
            return 403, (
                "The token is missing or wrong: open the address that `conclust studio` printed, "
                "with its ?token=…"
            )
        return None

    def _is_known(self, scope: Scope, headers: dict[str, str]) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(given):
            return True
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            morsel = None
        if morsel is not None and self._is_token(morsel.value):
            return True
        return scope["path"] == "/" and self._is_token(_token_in(scope))

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def _more(self, brings_token: bool) -> dict[str, str]:
        if not brings_token:
            return HEADERS
        kept = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        return {**HEADERS, "set-cookie": kept}


def hosts_of(host: str, port: int) -> set[str]:
    """Under which names a server on this host is addressed."""
    named = {host} if host not in ("0.0.0.0", "::", "") else _own_names()
    names = {*LOOPBACK, *(f"[{name}]" if ":" in name else name for name in named)}
    return {f"{name.lower()}:{port}" for name in names} | (
        {name.lower() for name in names} if port == 80 else set()
    )


def _own_names() -> set[str]:
    import socket

    name = socket.gethostname()
    found = {name, socket.getfqdn()}
    with contextlib.suppress(OSError):
        found |= {str(info[4][0]) for info in socket.getaddrinfo(name, None)}
    return found


def _token_in(scope: Scope) -> str:
    query = parse_qs(scope["query_string"].decode("latin-1"))
    return query.get("token", [""])[0] if scope["path"] == "/" else ""


def _with_headers(message: Message, more: dict[str, str]) -> list[tuple[bytes, bytes]]:
    given = [(k, v) for k, v in message.get("headers", ()) if k.decode().lower() not in more]
    return [*given, *((k.encode(), v.encode()) for k, v in more.items())]


async def _refuse(send: Send, status: int, sentence: str, is_page: bool) -> None:
    """Say why not: to a person who opens the page in words, to the page as JSON."""
    content = (sentence if is_page else json.dumps({"error": sentence})).encode()
    kind = "text/plain; charset=utf-8" if is_page else "application/json"
    more = {**HEADERS, "content-type": kind, "connection": "close"}
    headers = [(k.encode(), v.encode()) for k, v in more.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
