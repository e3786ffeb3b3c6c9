"""The mishaps of time slices: of messages, connections, processes, workers, strangers, a standby."""

from collections.abc import Iterator
from itertools import chain

from docs.model import slicing
from docs.model.crew import SENDS, Outcomes, Process, Report, Session, State, has_ended
from docs.model.explorer import Step
from docs.model.job import IDLE, OFF
from docs.model.slicing import Rules


def mishaps(rules: Rules, state: State) -> Iterator[Step[State]]:
    """Return all mishaps that may still happen."""
    workers = (_worker(rules, state, me) for me in range(len(state.processes)))
    return chain(_broker(state), _server(rules, state), _strangers(state), *workers)


def _broker(state: State) -> Iterator[Step[State]]:
    for n, (job, attempt) in enumerate(state.wire):
        yield Step("broker", f"loses {job + 1}", state._replace(wire=state.wire[:n] + state.wire[n + 1 :]))
        if state.left.doubles:
            doubled = state.spend("doubles")._replace(wire=tuple(sorted((*state.wire, (job, attempt)))))
            yield Step("broker", f"doubles {job + 1}", doubled)


def _server(rules: Rules, state: State) -> Iterator[Step[State]]:
    for sent in state.sessions:
        if sent.does != "nothing" and not state.locked(sent.job):
            what = f"carries out what worker {sent.worker + 1} had sent: {sent.does} {sent.job + 1}"
            yield Step("server", what, slicing.carried_out(rules, state, sent))
    if state.left.standbys and not state.standby:
        yield Step("standby", "lags behind", state._replace(standby=state.jobs))
    elif state.left.standbys:
        lagging = state.spend("standbys")._replace(jobs=state.standby, standby=(), sessions=(), promoted=True)
        yield Step("standby", "is promoted", lagging)
        # It may lack the submits, too. Then their numbers come again, here at once, as those of another tenant's jobs.
        anew = tuple(row if row.attempt else row._replace(owner=1) for row in lagging.jobs)
        yield Step("standby", "is promoted, numbers come again", lagging._replace(jobs=anew))


def _strangers(state: State) -> Iterator[Step[State]]:
    for job, row in enumerate(state.jobs if state.left.strangers else ()):
        if not has_ended(row):
            yield Step("stranger", f"locks {job + 1}", state.spend("strangers")._replace(strangers=(job,)))


def _worker(rules: Rules, state: State, me: int) -> Iterator[Step[State]]:
    process = state.processes[me]
    if process.at != OFF and not process.gone:
        behind = _left_behind(process, me)
        drains: Outcomes = iter(())
        if state.left.drains and not process.drains:
            drains = iter([("drains", state.spend("drains").put(me, process._replace(drains=True)))])
        all_of_it = (drains, _cut(rules, state, me, behind), _death(rules, state, me, behind), _loss(state, me, behind))
        for what, after in chain(*all_of_it):
            yield Step(f"worker {me + 1}", what, after)


def _left_behind(process: Process, me: int) -> tuple[Session, ...]:
    """Return the statements that its session may still carry out after the process has died."""
    if process.at not in SENDS:
        return ()
    sent = Session(me, process.life, "start", process.job, process.attempt)
    if process.at in {"start", "start again"}:
        return (sent,)
    if process.at == "keeps":
        return (Session(me, process.life, "start", *process.follows),)
    return (sent._replace(does="succeed"), sent._replace(does="nothing"))


def _cut(rules: Rules, state: State, me: int, behind: tuple[Session, ...]) -> Outcomes:
    if state.left.cuts and behind:
        sent, process = behind[0], state.processes[me]
        asks = "start again" if rules.starts_before_it_asks else "asks first"
        again = process._replace(at="settle again" if sent.does == "succeed" else asks)
        if process.at == "keeps":
            again = process.idle("asks what it holds" if rules.asks_after_dispatch else IDLE)
        cut = state.spend("cuts")._replace(sessions=tuple(sorted({*state.sessions, sent})))
        yield f"loses its connection: {sent.does} {sent.job + 1} is on its way", cut.put(me, again)


def _death(rules: Rules, state: State, me: int, behind: tuple[Session, ...]) -> Outcomes:
    process = state.processes[me]
    if not state.left.deaths or process.at == IDLE:
        return
    report = Report(me, process.life, message=process.message)
    told = state.spend("deaths")._replace(reports=tuple(sorted((*state.reports, report))))
    dead = told.put(me, process.idle()._replace(life=process.life + 1))
    yield f"its process dies before: {process.at}", dead
    yield from _leaves(dead, behind, "its process dies")
    if behind and not rules.gives_up_and_ends:
        yield "cannot reach the database, gives up, lives on", told.put(me, process.idle())


def _loss(state: State, me: int, behind: tuple[Session, ...]) -> Outcomes:
    if state.left.losses:
        process, lost = state.processes[me], state.spend("losses")
        dead = lost._replace(reports=state.reports_of_others(me)).put(me, process.idle(OFF))
        yield "is killed as a whole", dead
        yield from _leaves(dead, behind, "is killed as a whole")
        yield "stalls, and is declared gone", lost.put(me, process._replace(gone=True))


def _leaves(dead: State, behind: tuple[Session, ...], what: str) -> Outcomes:
    for session in behind:
        left = dead._replace(sessions=tuple(sorted({*dead.sessions, session})))
        if session.does != "nothing":
            yield f"{what}, and leaves behind: {session.does} {session.job + 1}", left
        elif dead.left.opens:
            yield f"{what}, and leaves {session.job + 1} locked", left.spend("opens")
