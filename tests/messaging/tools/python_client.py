"""Registers, sends and checks through the official Python client, of either generation.

Usage: python_client.py URL PREFIX TOOL..., where PREFIX begins the handles that it registers, and
the tools are those that have to be listed. Prints one line for each way of connecting that the
installed client has.
"""

import asyncio
import contextlib
import re
import sys

import mcp
from mcp.client import streamable_http

URL, PREFIX, *TOOLS = sys.argv[1:]


@contextlib.asynccontextmanager
async def session_1(headers):
    async with streamable_http.streamablehttp_client(URL, headers=headers) as (read, write, *_):
        async with mcp.ClientSession(read, write) as session:
            await session.initialize()
            yield session


@contextlib.asynccontextmanager
async def session_2(headers):
    async with streamable_http.create_mcp_http_client(headers=headers) as http:
        async with streamable_http.streamable_http_client(URL, http_client=http) as (read, write, *_):
            async with mcp.ClientSession(read, write) as session:
                await session.initialize()
                yield session


@contextlib.asynccontextmanager
async def client_2(headers):
    async with streamable_http.create_mcp_http_client(headers=headers) as http:
        async with mcp.Client(streamable_http.streamable_http_client(URL, http_client=http)) as client:
            yield client


def member(result, *names):
    """The generations spell members differently."""
    return next(getattr(result, name) for name in names if hasattr(result, name))


async def answer(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not member(result, "isError", "is_error"), result
    # Clients of before structured answers have the prose.
    structured = getattr(result, "structuredContent", getattr(result, "structured_content", None))
    return result.content[0].text, structured


async def converse(connect, name):
    async with connect({}) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS, tools
        text, _ = await answer(client, "register", handle=f"{PREFIX}_{name}_a")
        token = re.search(r"^token: (\S+)$", text, re.M)[1]
        text, _ = await answer(client, "register", handle=f"{PREFIX}_{name}_b")
        header = re.search(r"^Authorization: (Bearer \S+)$", text, re.M)[1]
        async with connect({"Authorization": header}) as other:
            text, _ = await answer(other, "whoami")
            assert f"@{PREFIX}_{name}_b" in text, text
            text, _ = await answer(other, "send_message", to=f"{PREFIX}_{name}_a", body="hello")
            assert re.search(r"Look for an answer with check_inbox\.$", text), text
        text, structured = await answer(client, "check_inbox", token=token, unread_only=True)
        assert "\nhello\n" in text, text
        assert structured is None or structured["messages"][0]["body"] == {"text": "hello"}
        refused = await client.call_tool("whoami", {"token": "wrong"})
        assert member(refused, "isError", "is_error")
        assert refused.content[0].text.startswith("unknown_token: "), refused
        try:
            await client.call_tool("no_such_tool", {})
        except Exception as error:
            assert "there is no tool" in str(error), error
        else:
            raise AssertionError("an unknown tool was answered")
    print(f"{name} done")


async def main():
    if hasattr(streamable_http, "streamablehttp_client"):
        return await converse(session_1, "session")
    await converse(session_2, "session")
    await converse(client_2, "client")


asyncio.run(main())
