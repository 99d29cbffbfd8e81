"""The project over HTTP: JSON in, a method of the project, JSON out."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Callable
from functools import partial
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route

from conclust.exceptions import ConclustError, SessionError
from conclust.studio import _listing, _views
from conclust.studio._checks import Tab, checked_person, checked_request, checked_tab
from conclust.studio._data import IMAGES
from conclust.studio._export import EXPORTS, export, read_statements
from conclust.studio._project import Project, TakenError
from conclust.studio._safety import MAX_BODY, MAX_FILE, Safety, hosts_of

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
HEARTBEAT = 15.0  # seconds; tells a page that the server is there, and the server that a page is
LAST = "last"  # the event after which there are none
MAX_EXPORTS = 4  # at a time: they may wait for the clustering, and questions never do
MAX_WAITING = 1_000  # events that a page has not fetched

log = logging.getLogger("conclust.studio")


def make_app(project: Project, token: str, host: str, port: int) -> Any:
    """The application, behind its guard."""
    routes = _Routes(project)
    handlers: Any = {Exception: _failed, HTTPException: _not_there}
    app = Starlette(routes=routes.all(), exception_handlers=handlers)
    return Safety(app, token, hosts_of(host, port), f"conclust-{port}")


class _TooLargeError(Exception):
    """A body over the limit."""


class _Routes:
    """Each route is one method of the project."""

    def __init__(self, project: Project):
        self.project = project
        self.exporting = asyncio.Semaphore(MAX_EXPORTS)
        folder = resources.files("conclust.studio") / "page"
        # Read once: what is not here is not served, whatever the name.
        self.files = {
            file.name: file.read_bytes()
            for file in folder.iterdir()
            if file.is_file() and _suffix(file.name) in TYPES
        }

    def all(self) -> list[Route]:
        """The routes."""
        project = self.project
        got: dict[str, Callable[[Request], Any]] = {
            "/api/project": lambda r: _views.about(project),
            "/api/map": lambda r: _views.rows_on_map(project),
            "/api/labels": lambda r: _views.labels(project),
            "/api/lines": lambda r: _views.lines(project),
            "/api/find": lambda r: _views.found(project, r.query_params.get("text", "")),
            "/api/conflicts": lambda r: _listing.conflicts(project),
            "/api/progress": lambda r: _listing.progress(project),
            "/api/row/{row}": lambda r: _views.item(project, _number(r.path_params["row"])),
            "/api/cluster/{cluster}": lambda r: _views.one_cluster(
                project, _number(r.path_params["cluster"])
            ),
            "/api/answers": lambda r: _listing.answers(
                project,
                _number(r.query_params.get("offset", "0")),
                _number(r.query_params.get("limit", "100")),
                r.query_params.get("order", "time"),
            ),
        }
        said: dict[str, Callable[[dict[str, Any]], Any]] = {
            "/api/next": lambda b: project.next(
                _person(b), b.get("kind") or "pair", b.get("size"), _tab(b)
            ),
            "/api/answer": lambda b: project.answer(
                _person(b),
                _request(b),
                *(b.get(name) for name in ("question", "answer", "seconds")),
                kind=b.get("kind"),
                size=b.get("size"),
                tab=_tab(b),
            ),
            "/api/undo": lambda b: project.undo(_person(b), _request(b), _tab(b)),
            "/api/retract": lambda b: project.retract(_person(b), _request(b), b.get("numbers")),
            "/api/keep": lambda b: project.keep(_person(b), _request(b), b.get("number")),
            "/api/pose": lambda b: project.pose(
                _person(b), b.get("samples"), b.get("kind") or "pair", _tab(b)
            ),
            "/api/say": lambda b: project.say(
                _person(b),
                _request(b),
                b.get("verb"),
                **{name: b.get(name) for name in ("rows", "clusters", "with")},
            ),
        }
        return [
            Route("/", self._index),
            Route("/static/{name}", self._static),
            *(Route(path, partial(_get, method)) for path, method in got.items()),
            *(Route(p, partial(_post, method), methods=["POST"]) for p, method in said.items()),
            Route("/api/import", self._import, methods=["POST"]),
            Route("/api/events", self._events),
            Route("/api/export/{name}", self._export),
            Route("/image/{column}/{row}", self._image),
        ]

    async def _index(self, request: Request) -> Response:
        return self._file("index.html")

    async def _static(self, request: Request) -> Response:
        return self._file(request.path_params["name"])

    def _file(self, name: str) -> Response:
        if name not in self.files:
            return _reply({"error": f"There is no {name[:60]!a} here."}, 404)
        return Response(self.files[name], media_type=TYPES[_suffix(name)])

    async def _image(self, request: Request) -> Response:
        def found() -> Response:
            at = request.path_params
            path = self.project.data.image(_number(at["column"]), _number(at["row"]))
            return FileResponse(path, media_type=IMAGES[path.suffix.lower()])

        return await _answered(found, 404)

    async def _export(self, request: Request) -> Response:
        def found() -> Response:
            name = request.path_params["name"]
            content, file_name = export(self.project, name)
            kept = f'attachment; filename="{file_name}"'
            headers = {"content-disposition": kept}
            return Response(content, headers=headers, media_type=EXPORTS[name])

        async with self.exporting:
            return await _answered(found)

    async def _import(self, request: Request) -> Response:
        try:
            content = await _body(request, MAX_FILE)
        except _TooLargeError:
            return _too_large(MAX_FILE)
        name = request.query_params.get("name", "statements.csv")

        def taken() -> Response:
            constraints, unknown = read_statements(self.project.data, content, name)
            return _reply(self.project.bring_in(constraints, unknown))

        return await _answered(taken)

    async def _events(self, request: Request) -> Response:
        return StreamingResponse(_stream(self.project), media_type="text/event-stream")


async def _stream(project: Project) -> AsyncIterator[str]:
    """What happens, as server-sent events; a page that does not fetch them misses some."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[tuple[str, Any]] = asyncio.Queue(MAX_WAITING)

    def put(event: tuple[str, Any]) -> None:
        if not waiting.full():
            waiting.put_nowait(event)

    def listen(name: str, content: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the server stops
            loop.call_soon_threadsafe(put, (name, content))

    project.listeners.append(listen)
    try:
        yield _event("busy", {"stage": project.background.stage})
        while True:
            try:
                name, content = await asyncio.wait_for(waiting.get(), HEARTBEAT)
            except TimeoutError:
                yield ": still here\n\n"
            else:
                if name == LAST:
                    return
                yield _event(name, content)
    finally:
        project.listeners.remove(listen)


def _event(name: str, content: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(content)}\n\n"


# ---------------------------------------------------------------------- requests and replies


async def _get(method: Callable[[Request], Any], request: Request) -> Response:
    return await _answered(lambda: _reply(method(request)))


async def _post(method: Callable[[dict[str, Any]], Any], request: Request) -> Response:
    try:
        body = json.loads(await _body(request, MAX_BODY))
    except _TooLargeError:
        return _too_large(MAX_BODY)
    except (ValueError, RecursionError):
        return _reply({"error": "The request is no JSON; send an object."}, 400)
    if not isinstance(body, dict):
        return _reply({"error": f"The request must be a JSON object; got {body!r:.60}."}, 400)
    return await _answered(lambda: _reply(method(body)))


async def _answered(method: Callable[[], Response], refused: int = 400) -> Response:
    """What the method replies, or what it says against it."""
    try:
        return await run_in_threadpool(method)
    except TakenError as error:
        return _reply({"error": str(error), "next": error.following}, 409)
    except ConclustError as error:
        return _reply({"error": str(error)}, refused)


async def _not_there(request: Request, error: HTTPException) -> Response:
    shown = f"{request.method} {request.url.path[:60]!a}"
    return _reply({"error": f"{shown}: {error.detail}."}, error.status_code)


async def _failed(request: Request, error: Exception) -> Response:
    if not isinstance(error, ClientDisconnect):
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    sentence = "This should not have happened; the terminal of the studio says more."
    return _reply({"error": sentence}, 500)


async def _body(request: Request, limit: int) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise _TooLargeError
        parts.append(part)
    return b"".join(parts)


def _too_large(limit: int) -> Response:
    return _reply({"error": f"The request is larger than {limit:,} bytes."}, 413)


def _reply(content: Any, status: int = 200) -> Response:
    # Escaped, so that no mark of a cell, half a surrogate or a right-to-left one, breaks a line.
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(text, status, media_type="application/json")


def _person(body: dict[str, Any]) -> str:
    return checked_person(body.get("person"))


def _request(body: dict[str, Any]) -> str:
    return checked_request(body.get("request"))


def _tab(body: dict[str, Any]) -> Tab:
    return checked_tab(body.get("tab") or "", body.get("have") or [])


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 12):
        raise SessionError(f"{text[:40]!a} is no number.")
    return int(text)


def _suffix(name: str) -> str:
    return "." + name.rpartition(".")[2].lower()
