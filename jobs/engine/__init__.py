"""The engine: what moves jobs. Imports point down this list (pyproject.toml).

upkeep      recover what died was holding, prune what is old, keep the history, skip ids after a failover
light       run many coroutines in one process, each an attempt in its seat
moving      take a tenant's rows to another installation, or take them in
attempt     execute a body in its process: start, run, clean up, settle, and go on with the next job of the lane
schedules   recurring jobs: declare, change, plan, run
submitting  store new jobs: single calls, identical calls, chains, batches; the proxies `async_`
verbs       actions of people on jobs and limits: cancel, revive, pause, drain, erase, change a limit; each is audited
door        dispatch: decide which jobs get the free slots; promote what is due, unblock what waited
deaths      tell people about jobs that are dead
webhooks    post the ends of jobs to the addresses of tenants
process     the process around the engine: its runtime and host, user code, patience with the database
"""
