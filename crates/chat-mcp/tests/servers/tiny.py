"""A small MCP server with the official SDK, which answers both server/discover (2026-07-28) and initialize (2025-11-25).

    tiny.py              speaks over standard input and output
    tiny.py http PORT    serves http://127.0.0.1:PORT/mcp
"""

import asyncio
import sys
from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel

server = MCPServer("tiny", title="Tiny", version="1.0", instructions="For tests.")


class Name(BaseModel):
    name: str = "Ann"
    age: int = 30


def who(ctx: Context) -> Elicit[Name]:
    return Elicit("Who are you?", Name)


@server.tool(title="Add", annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def greet(name: Annotated[Name, Resolve(who)]) -> str:
    """Asks who you are: elicitation/create on 2025-11-25, input_required on 2026-07-28."""
    return f"Hello {name.name}, {name.age}"


@server.tool()
async def slow(seconds: float, ctx: Context) -> str:
    """Reports progress ten times a second."""
    for step in range(int(seconds * 10)):
        await ctx.report_progress(step, seconds * 10, f"step {step}")
        await asyncio.sleep(0.1)
    return "done"


@server.tool()
async def changed(ctx: Context) -> str:
    """Says that the list of tools changed."""
    await ctx.notify_tools_changed()
    return "told"


@server.tool()
def big(megabytes: int) -> str:
    """A long answer in one message."""
    return "x" * (megabytes << 20)


@server.resource("note://{name}")
def note(name: str) -> str:
    return f"note {name}"


@server.prompt(title="Review")
def review(code: str) -> str:
    return f"Review this: {code}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run("stdio")
