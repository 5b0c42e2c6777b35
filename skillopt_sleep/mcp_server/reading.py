"""Resources and prompts: what a client can read, and what a person can ask for by name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import mcp_types as types

from skillopt_sleep.domain.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from skillopt_sleep.wiring import Environment

_NIGHTS = 10
_MARKDOWN, _JSON = "text/markdown", "application/json"
_TEMPLATES = (
    ("sleep://skills/{name}", "Skill", "The text of a skill or memory file, as it is now.", _MARKDOWN),
    ("sleep://proposals/{id}", "Proposal", "A proposal with all its evidence and its diff.", _JSON),
    ("sleep://nights/{id}/report", "Report of a night", "What a night did, found and cost.", _MARKDOWN),
)
_REVIEW = (
    "Call sleep-status{about}. For each proposal that waits, call show-proposal and tell me in plain words: the "
    "held-out score before and after with its interval, the verdict, each edit with its reason, what got worse, and "
    "what it cost. Then ask me which to adopt, and adopt nothing that I did not name."
)
_OPTIMIZE = (
    "Call optimize-skill with skill={skill} and no plan_id. Show me what it would do, what would leave this machine, "
    "and what it costs. Ask whether to begin. If I say yes, call it again with the plan_id, tell me the job's id, and "
    "end your turn without polling."
)
_PROMPTS = {
    "review-night": types.Prompt(
        name="review-night",
        title="Review the last night",
        description="See what is proposed and decide.",
        arguments=[types.PromptArgument(name="job", description="Only this job.", required=False)],
    ),
    "optimize-skill": types.Prompt(
        name="optimize-skill",
        title="Optimise a skill",
        description="Plan, price, and after a yes a background job.",
        arguments=[types.PromptArgument(name="skill", description="Name of the skill.", required=True)],
    ),
}


def resources(environment: Environment, _params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    """The skills, the proposals that wait or are live, and the last nights."""
    from skillopt_sleep import app
    from skillopt_sleep.requests import SkillsRequest, StatusRequest

    skills = app.list_skills(SkillsRequest(), environment).skills
    state = app.status(StatusRequest(limit=_NIGHTS), environment)
    found = [_resource(f"sleep://skills/{quote(skill.name, safe='')}", skill.name, _MARKDOWN) for skill in skills]
    found += [
        _resource(f"sleep://proposals/{line.id}", f"{line.skill}: {line.status}", _JSON)
        for line in (*state.waiting, *state.adopted)
    ]
    found += [_resource(f"sleep://nights/{night.id}/report", f"Night {night.id}", _MARKDOWN) for night in state.nights]
    return types.ListResourcesResult(resources=found)


def _resource(uri: str, name: str, mime: str) -> types.Resource:
    return types.Resource(uri=uri, name=name.encode("utf-8", "replace").decode("utf-8"), mime_type=mime)


def templates(_: Environment, _params: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
    """The three kinds of resources."""
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(uri_template=uri, name=name, description=words, mime_type=mime)
            for uri, name, words, mime in _TEMPLATES
        ]
    )


def read(environment: Environment, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    """One resource. Raises `UnknownName` for what is not there."""
    text, mime = _text(environment, params.uri)
    text = text.encode("utf-8", "replace").decode("utf-8")
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, mime_type=mime, text=text)])


def _text(environment: Environment, uri: str) -> tuple[str, str]:
    from skillopt_sleep import app
    from skillopt_sleep.requests import ProposalRequest

    match uri.removeprefix("sleep://").split("/") if uri.startswith("sleep://") else ():
        case ["skills", name]:
            return app.skill_text(unquote(name), environment), _MARKDOWN
        case ["proposals", proposal]:
            view = app.show(ProposalRequest(proposal=unquote(proposal)), environment)
            return json.dumps(view.model_dump(mode="json"), ensure_ascii=False, indent=1), _JSON
        case ["nights", night, "report"]:
            return app.night_report(unquote(night), environment), _MARKDOWN
    raise UnknownName("resource", uri[:200], (uri for uri, *_ in _TEMPLATES))


def prompts(_: Environment, _params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    """What a person can ask for by name."""
    return types.ListPromptsResult(prompts=list(_PROMPTS.values()))


def prompt(_: Environment, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    """The words of one of them. Raises `UnknownName` and `UsageError`."""
    if params.name not in _PROMPTS:
        raise UnknownName("prompt", params.name[:80], _PROMPTS)
    given = params.arguments or {}
    known = {argument.name for argument in _PROMPTS[params.name].arguments or ()}
    for name in given:
        if name not in known:
            raise UnknownName(f"argument of {params.name}", name[:80], known)
    if params.name == "review-night":
        text = _REVIEW.format(about=f" with job={given['job'][:80]}" if given.get("job") else "")
    elif given.get("skill"):
        text = _OPTIMIZE.format(skill=json.dumps(given["skill"][:200], ensure_ascii=False))
    else:
        raise UsageError("optimize-skill needs `skill`.", hint="`list-skills` lists them.")
    content = types.TextContent(type="text", text=text)
    return types.GetPromptResult(
        description=_PROMPTS[params.name].description, messages=[types.PromptMessage(role="user", content=content)]
    )
