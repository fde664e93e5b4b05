"""FastAPI, for uvicorn."""

from typing import Any

from fastapi import FastAPI

app = FastAPI()


@app.get("/")
async def root() -> dict[str, list[dict[str, Any]]]:
    return {"items": [{"id": number, "name": f"n{number}"} for number in range(20)]}
