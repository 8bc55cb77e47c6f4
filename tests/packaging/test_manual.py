"""Manual pages and completions: made from the options themselves, and read by the programs that they are for."""

import json
import re
import shutil
import subprocess

import pytest

COMMANDS = [
    "info", "check", "preload", "compare", "doctor", "report", "explain-type", "explain", "simulate", "tune", "learn"
]  # fmt: skip


def run(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, **more)


def described(launcher, *words):
    return json.loads(run(launcher, *words, "--describe").stdout)


def names_in_help(launcher, *words):
    return set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", run(launcher, *words, "--help").stdout, re.MULTILINE))


def test_the_commands_are_those_that_the_launcher_knows(launcher):
    names = [command["name"] for command in described(launcher)["commands"]]
    assert set(COMMANDS) <= set(names)
    for name in names:
        assert described(launcher, name)["name"] == f"millrace {name}"
        assert f"millrace {name}" in run(launcher, "--help").stdout


@pytest.fixture(params=["", *COMMANDS])
def command(request):
    return request.param


def page_of(moved, command):
    return moved / "share/man/man1" / f"millrace{'-' * bool(command)}{command}.1"


def test_pages_render_without_a_warning(moved, command):
    done = run("man", "--warnings=w", "-E", "UTF-8", "-l", "-Tutf8", page_of(moved, command))
    assert done.returncode == 0
    assert done.stderr == ""
    text = re.sub(".\b", "", done.stdout)  # bold letters are printed twice
    assert "NAME" in text and "SYNOPSIS" in text and "--help" in text


def test_a_mistake_in_a_page_would_be_seen(moved, tmp_path):
    page = tmp_path / "wrong.1"
    page.write_text(page_of(moved, "").read_text() + ".nosuchrequest\n")
    assert run("man", "--warnings=w", "-l", "-Tutf8", page).stderr != ""


def test_pages_name_every_option_of_help(moved, launcher, command):
    text = page_of(moved, command).read_text().replace("\\-", "-")
    names = names_in_help(launcher, *command.split())
    assert "--help" in names
    assert [name for name in names if name not in text] == []


def test_the_page_explains_every_setting(moved, launcher):
    text = page_of(moved, "").read_text()
    settings = described(launcher)["settings"]
    assert len(settings) > 10
    assert [setting["variable"] for setting in settings if setting["variable"] not in text] == []


def completed(moved, line, directory):
    """What bash offers for the last word of `line`, whose words are parted as bash parts them."""
    words = [word for word in re.split(r"(=)| ", line) if word is not None and word != ""]
    if line.endswith((" ", "=")):
        words.append("")
    script = f"""
    set -u
    . '{moved}/share/bash-completion/completions/millrace'
    COMP_WORDS=({" ".join(f"'{word}'" for word in words)}); COMP_CWORD={len(words) - 1}; COMP_LINE='{line}'
    _millrace; printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = run("bash", "--norc", "-c", script, cwd=directory)
    assert done.stderr == "", done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("line", "offered", "not_offered"),
    [
        ("millrace --", {"--report", "--mpi", "--version"}, {"--json", "run.json"}),
        ("millrace ex", {"explain", "explain-type"}, {"info"}),
        ("millrace info --", {"--json", "--types"}, {"--report"}),
        ("millrace --mpi ", {"openmpi", "mpich", "abi"}, {"info"}),
        ("millrace --mpi=mp", {"mpich"}, {"openmpi"}),
        ("millrace --mpi mpich in", {"info"}, {"learn"}),
        ("millrace --log deb", {"debug"}, {"run.json"}),
        ("millrace --report ru", {"run.json"}, set()),
        ("millrace --learn ru", {"run.json"}, {"run"}),
        ("millrace tune --out ru", {"run.json"}, {"--quick"}),
        ("millrace learn --out=ru", {"run.json"}, {"--advise"}),
        ("millrace learn --out run.json --ad", {"--advise"}, set()),
        ("millrace ./app --", set(), {"--report", "--json"}),
        ("millrace ./app ru", {"run.json"}, {"--report"}),
        ("millrace -- inf", set(), {"info"}),
    ],
)
def test_bash_completes(moved, tmp_path, line, offered, not_offered):
    (tmp_path / "run.json").touch()
    found = completed(moved, line, tmp_path)
    assert offered <= found
    assert not not_offered & found


@pytest.mark.parametrize(
    ("shell", "check", "path"),
    [
        ("zsh", "-n", "zsh/site-functions/_millrace"),
        ("fish", "--no-execute", "fish/vendor_completions.d/millrace.fish"),
    ],
)
def test_other_shells_read_theirs(moved, shell, check, path):
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    done = run(shell, check, moved / "share" / path)
    assert done.returncode == 0, done.stderr
    assert "--advise" in (moved / "share" / path).read_text() or "-l advise" in (moved / "share" / path).read_text()


def test_fish_completes(moved):
    if not shutil.which("fish"):
        pytest.skip("no fish here")
    source = moved / "share/fish/vendor_completions.d/millrace.fish"
    done = run("fish", "--no-config", "-c", f"source {source}; complete -C 'millrace info --'")
    assert "--json" in done.stdout and "--advise" not in done.stdout
