"""`/problems` and `/problems/{slug}`: what a problem means, and what to do."""

from starlette.responses import Response

from potluck.web.endpoints import Call, Endpoints
from potluck.web.errors import NotFound

problem_pages = Endpoints()


@problem_pages.get("/problems", public=True)
async def problems(call: Call) -> Response:
    listed = sorted(call.site.problems.by_slug.values(), key=lambda problem: (problem.status, problem.slug))
    return call.public_page("problem_types.html", problems=listed)


@problem_pages.get("/problems/{slug}", public=True)
async def problem(call: Call) -> Response:
    problem = call.site.problems.by_slug.get(call.text("slug"))
    if problem is None:
        raise NotFound
    return call.public_page("problem_type.html", problem=problem)
