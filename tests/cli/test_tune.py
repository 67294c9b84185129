"""`gwn tune` as a person runs it: winners that `gwn train` uses, kill -9, Ctrl-C, two workers, and every mistake."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import optuna
import pytest
from optuna.trial import FrozenTrial, TrialState

from gwn.cli.main import main
from gwn.cli.terminal import parse_duration
from gwn.errors import GWNError

GWN = [sys.executable, "-m", "gwn"]
SMALL = ("--search-splits", "2", "--final-runs", "2", "--set", "hidden_channels=8")
QUICK = (*SMALL, "--set", "epochs=3")
SLOW = (*SMALL, "--set", "epochs=200", "--set", "stopping=none", "--set", "time=4", "--set", "tau=1")
"""A second or more a trial: enough to be caught in the middle of one."""

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="finds worker processes in /proc")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    return int(stop.value.code or 0)


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*GWN, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A background job ignores Ctrl-C, and so would its children: they shall not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def trials() -> list[FrozenTrial]:
    """Of the only study there is; none while it is being made, which a second process would disturb."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for file in Path("studies").glob("*.db"):
        with suppress(sqlite3.Error), closing(sqlite3.connect(file)) as connection:
            if connection.execute("SELECT count(*) FROM trials").fetchone() != (0,):
                return optuna.load_study(study_name=None, storage=f"sqlite:///{file}").get_trials(deepcopy=False)
    return []


def stop_when(process: subprocess.Popen[str], happens: Callable[[], bool], who: Callable[[], list[int]]) -> list[int]:
    """Stop these processes in the middle of what happens, however busy the machine is; SIGCONT lets them go on."""
    while True:
        assert process.poll() is None, process.communicate()
        if happens():
            stopped = who()
            signal_all(stopped, signal.SIGSTOP)
            if happens():
                return stopped
            signal_all(stopped, signal.SIGCONT)
        time.sleep(0.05)


def signal_all(pids: list[int], number: int) -> None:
    for pid in pids:
        os.kill(pid, number)


def in_the_middle_of(count: int) -> bool:
    """Whether `count` trials are training."""
    return sum(trial.state == TrialState.RUNNING and "settings" in trial.user_attrs for trial in trials()) >= count


def workers(process: subprocess.Popen[str]) -> list[int]:
    """The processes below the server that the command started."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(") ")[2].split()[1])
    servers = {pid for pid, parent in parents.items() if parent == process.pid}
    return sorted(pid for pid, parent in parents.items() if parent in servers)


def finished_states() -> list[TrialState]:
    return [trial.state for trial in trials() if trial.state in (TrialState.COMPLETE, TrialState.PRUNED)]


def test_tune_then_train(capsys: pytest.CaptureFixture[str]) -> None:
    command = ("tune", "csbm", "--model", "gwn-fa", "--split", "uniform", "--trials", "4", *QUICK)
    assert call(*command, "--json") == 0
    said = capsys.readouterr()
    winner = json.loads(said.out)
    assert said.err.count("\ntrial ") + said.err.startswith("trial ") == 4
    assert "best " in said.err
    assert winner["search"]["trials"] == 4
    assert winner["file"] == "settings/gwn-fa.toml"

    assert call(*command, "--json", "--finalists", "2") == 0
    said = capsys.readouterr()
    winner = json.loads(said.out)
    assert "finalist 2 of 2" in said.err
    assert winner["search"]["playoff"]["won"] == max(winner["search"]["playoff"]["scores"])
    assert call(*command, "--finalists", "0") == 2
    assert "--finalists must be at least 1" in capsys.readouterr().err

    assert call(*command, "--quiet") == 0  # all there: nothing to do
    said = capsys.readouterr()
    assert said.err == ""
    assert "best of 4 trials" in said.out
    table = said.out
    assert call(*command, "--json", "--quiet") == 0
    winner = json.loads(capsys.readouterr().out)
    assert f"the final runs in {winner['folder']}" in " ".join(table.split())

    train = ("train", "csbm", "--model", "gwn-fa", "--split", "uniform", "--runs", "2", "--json")
    assert call(*train) == 0
    said = capsys.readouterr()
    result = json.loads(said.out)
    assert said.err.startswith("using tuned settings from settings/gwn-fa.toml [csbm.uniform]; --no-tuned for")
    assert result["folder"] == winner["folder"]  # the very runs that tune has measured
    assert result["summary"]["test"]["mean"] == winner["final"]["test"]
    assert result["settings_from"] == {"file": "settings/gwn-fa.toml", "table": "csbm.uniform", "overridden": []}

    assert call(*train, "--set", "tau=0.7", "--set", "epochs=2") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["settings"]["tau"], result["training"]["epochs"]) == (0.7, 2)
    assert result["settings"]["time"] == winner["settings"]["time"]
    assert result["settings_from"]["overridden"] == ["epochs", "tau"]

    assert call(*train, "--no-tuned", "--set", "epochs=2", "--quiet") == 0
    said = capsys.readouterr()
    assert said.err == ""
    result = json.loads(said.out)
    assert result["settings_from"] is None
    assert result["settings"]["time"] == 2.0
    assert result["training"]["lr"] == 0.01

    Path("settings/gwn-fa.toml").write_text("[csbm")
    assert call(*train) == 2
    assert "cannot be read as TOML" in capsys.readouterr().err


def test_what_the_search_fixed_of_the_training_is_trained_with_again(capsys: pytest.CaptureFixture[str]) -> None:
    """The command that it advises repeats its runs, also those that a prior corrects; what is set then wins."""
    fixed = ("--set", "class_weights=balanced", "--set", "select=loss", "--prior", "em")
    tune = ("tune", "csbm", "--model", "gcn", "--split", "uniform", "--trials", "2", *QUICK, *fixed)
    assert call(*tune, "--json") == 0
    winner = json.loads(capsys.readouterr().out)
    assert call(*tune) == 0
    advised = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("Use with: gwn "))
    again = advised.removeprefix("Use with: gwn ").split()
    assert call(*again, "--runs", "2", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["folder"] == winner["folder"]
    assert result["training"]["select"] == "loss"
    for said in (("--set", "class_weights=none"), ("--class-weights", "none")):
        assert call(*again, "--runs", "1", "--json", *said) == 0
        assert json.loads(capsys.readouterr().out)["training"].get("class_weights", "none") == "none", said


@needs_linux
@pytest.mark.slow
def test_killed_worker_is_replaced_and_its_trial_tried_again() -> None:
    process = start("tune", "csbm", "--trials", "4", "--jobs", "2", "--heartbeat", "1", *SLOW)
    pids = stop_when(process, lambda: in_the_middle_of(2), lambda: workers(process))
    os.kill(pids[0], signal.SIGKILL)
    signal_all(pids[1:], signal.SIGCONT)
    _, said = process.communicate()
    assert process.returncode == 0, said
    assert "a worker died (signal 9" in said
    assert "Traceback" not in said
    assert len(finished_states()) == 4
    retried = [trial.params for trial in trials() if trial.system_attrs.get("retry_history")]
    lost = [trial.params for trial in trials() if trial.state == TrialState.FAIL]
    assert lost, "at least that of the killed worker; a busy machine may have kept another one silent for too long"
    assert retried == lost


@pytest.mark.slow
def test_killed_command_continues() -> None:
    command = ("tune", "csbm", "--trials", "3", "--heartbeat", "1", *SLOW)
    process = start(*command)
    stop_when(process, lambda: in_the_middle_of(1) and len(trials()) > 1, lambda: [process.pid])
    process.kill()
    process.communicate()
    before = trials()
    assert call(*command, "--quiet") == 0
    after = trials()
    assert len(finished_states()) == 3
    kept = [trial for trial in before if trial.state.is_finished()]
    assert [trial.value for trial in after[: len(kept)]] == [trial.value for trial in kept]
    assert after[len(kept)].state == TrialState.FAIL
    assert after[len(kept)].params in [trial.params for trial in after if trial.system_attrs.get("retry_history")]


@needs_linux
@pytest.mark.slow
def test_ctrl_c_stops_all_workers_and_the_command_continues() -> None:
    command = ("tune", "csbm", "--trials", "3", "--jobs", "2", *SLOW)
    process = start(*command)
    pids = stop_when(process, lambda: in_the_middle_of(2), lambda: workers(process))
    process.send_signal(signal.SIGINT)
    signal_all(pids, signal.SIGCONT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in said
    assert said.strip().splitlines()[-1] == "gwn: interrupted; what was finished is kept, the same command continues"
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert not [trial for trial in trials() if trial.state == TrialState.RUNNING]  # given back at once
    assert call(*command[:4], *command[6:], "--quiet") == 0
    assert len(finished_states()) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("corra",), "did you mean 'cora'"),
        (("csbm", "--model", "gwn-simm"), "did you mean 'gwn-sym'"),
        (("csbm", "--split", "perclass"), "did you mean 'per-class'"),
        (("csbm", "--split", "geom"), "no published split 'geom'"),
        (("csbm", "--space", "papr"), "did you mean 'paper'"),
        (("csbm", "--trials", "0"), "--trials must be at least 1"),
        (("csbm", "--jobs", "0"), "--jobs must be at least 1"),
        (("csbm", "--final-runs", "0"), "--final-runs must be at least 1"),
        (("csbm", "--search-splits", "0"), "--search-splits must be at least 1"),
        (("csbm", "--seed", "-1"), "--seed must be at least 0"),
        (("csbm", "--timeout", "soon"), "--timeout takes a duration"),
        (("csbm", "--timeout", "30"), "--timeout takes a duration"),
        (("csbm", "--set", "tuu=1"), "did you mean 'tau'"),
        (("csbm", "--storage", "nonsense"), "not a database URL"),
        (("csbm", "--storage", "sqlite:////no/such/folder/x.db"), "unable to open"),
        (("csbm", "--out", "blocker"), "cannot write blocker"),
        (("csbm", "--runs", "3"), "for their number say --final-runs 3"),
        (("csbm", "--log", "wandbb"), "did you mean 'wandb'"),
        (("csbm", "--name", "taken", "--space", "paper"), "another search space"),
        (("csbm", "--name", "corrupt"), "not a database"),
        ((), "nothing was given; name a dataset"),
    ],
)
def test_mistakes_are_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str, made: None
) -> None:
    assert call("tune", *arguments, "--quiet", *(QUICK if "--final-runs" not in arguments else ())[2:]) == 2
    complaint = capsys.readouterr().err
    assert said in complaint
    assert len(complaint.strip().splitlines()) == 1, complaint


def test_what_was_read_is_said_before_a_search(capsys: pytest.CaptureFixture[str], tables: tuple[Path, Path]) -> None:
    """`gwn train` warned of a column that tells the class and of edges that were left out; the search said nothing."""
    first, *rows = tables[1].read_text().splitlines()
    told = [f"{first},told", *(f"{row},{row.rpartition(',')[2][:2] or 'sp'}" for row in rows)]
    tables[1].write_text("\n".join(told))
    tables[0].write_text(tables[0].read_text() + "u1,nobody,1\n")
    graph = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--label-column", "topic", "--skip-unknown")
    for command in (("tune", "--model", "mlp", "--trials", "1", *QUICK), ("explore", "--model", "none")):
        assert call(*command, *graph) == 0
        said = " ".join(capsys.readouterr().err.split())
        assert "left out: 1 edge of unknown nodes" in said
        assert "'told'" in said
        assert call(*command, *graph, "--quiet") == 0
        assert capsys.readouterr().err == ""


def test_a_split_without_a_test_is_searched_too(capsys: pytest.CaptureFixture[str], tables: tuple[Path, Path]) -> None:
    """After all trials there was a TypeError, and nothing was kept."""
    graph = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--label-column", "topic", "--split", "validate-20")
    assert call("tune", "--model", "mlp", "--trials", "1", *QUICK, *graph, "--quiet") == 0
    assert "The validate-20 split keeps no node to test on" in capsys.readouterr().out
    assert "[nodes.validate-20]" in Path("settings/mlp.toml").read_text()


@pytest.fixture
def made() -> None:
    """A file where a folder should be, a study that is none, and one of another search."""
    from gwn.tuning import SearchJob, plan_search
    from gwn.tuning.storage import default_url

    Path("blocker").write_text("")
    search = plan_search("csbm", "gwn-sym")
    SearchJob(plan=search.plan, url=default_url("taken"), name="taken", trials=1).open_study()
    Path("studies/corrupt.db").write_text("no database at all" * 100)


def test_durations() -> None:
    assert [parse_duration("-t", text) for text in ("90s", "30m", "2h", "1h30m", "0.5h", "1d")] == [
        90,
        1800,
        7200,
        5400,
        1800,
        86400,
    ]
    for text in ("", "m", "30", "3x", "1h30", "-5m", "0s", "1e9h", "99999999h"):
        with pytest.raises(GWNError, match="-t "):
            parse_duration("-t", text)
