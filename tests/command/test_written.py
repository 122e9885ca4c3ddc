"""Commands as they were written: their parts, forms and purposes."""

from __future__ import annotations

from seasoned.command.written import purpose_of, written

# The command, and the form of each simple command in it.
FORMS = {
    "uv run pytest -q": ["uv run pytest"],
    "rtk bun run test": ["rtk bun run test"],
    "timeout 60 go test ./... -run X": ["go test"],
    "CI=1 npm run -s lint": ["npm run lint"],
    "cd web && npm test 2>&1 | tail -20": ["cd", "npm test", "tail"],
    "mise run fmt && mise run lint 2>&1": ["mise run fmt", "mise run lint"],
    "corepack pnpm exec vitest run a.test.ts": ["corepack pnpm exec vitest run"],
    "fnm exec --using=24 corepack pnpm node --run check": ["fnm exec corepack pnpm node --run check"],
    "pnpm --filter web test": ["pnpm --filter web test"],
    "make -C docs html check": ["make html check"],
    "python -m pytest -x": ["python -m pytest"],
    "python3 scripts/build.py --fast": ["python3 scripts/build.py"],
    "python3 - <<'E'\nprint(1)\nE": ["python3 -"],
    "git -C /x commit -m 'a b'": ["git commit"],
    "aws --profile shop-dev s3 ls": ["aws s3"],
    "./scripts/run.sh a": ["./scripts/run.sh"],
    "(cd web && yarn build)": ["cd", "yarn build"],
    "for f in a b; do echo $f; done": ["echo"],
    "tox -e py311 -- -k x": ["tox -e py311"],
    "cargo clippy -- -D warnings": ["cargo clippy"],
    "cargo xtask lint --fix": ["cargo xtask lint"],
    "./gradlew :app:testDebugUnitTest --info": ["./gradlew :app:testDebugUnitTest"],
    "./gradlew -p android assembleDebug -x lint": ["./gradlew -p android assembleDebug"],
    "gradle build -x test --tests 'a.B'": ["gradle build"],
    "nox -s lint -- src": ["nox -s lint"],
    "uvx nox --session tests-3.12": ["uvx nox --session tests-3.12"],
}
PURPOSES = {
    "mise run test:ci": "test",
    "mise run lint": "check",
    "cargo fmt": "format",
    "npm run build": "build",
    "docker compose up": "run",
    "git commit": "commit",
    "cargo xtask lint": "check",
    "cargo xtask ci": "check",
    "npm ci": "install",
    "./gradlew :app:testDebugUnitTest": "test",
    "./gradlew :app:lint": "check",
    "./gradlew :app:spotlessCheck": "check",
    "nox -s tests": "test",
    "nox -s docs": "other",
    "nox": "test",
    "tox -e py311": "test",
    "uvx nox --session format": "format",
}


def test_forms_keep_what_chooses_the_program_and_drop_what_varies() -> None:
    found = {command: [one.form for one in written(command)] for command in FORMS}
    assert found == FORMS


def test_the_text_is_what_was_written_without_redirections_to_nowhere() -> None:
    one, two = written("PYTHONPATH=. pytest -q 2>&1 && npm run build > /dev/null")
    assert one.text == "PYTHONPATH=. pytest -q"
    assert (two.text, two.join) == ("npm run build", "&&")


def test_purposes_come_from_the_words_of_a_form() -> None:
    assert {form: purpose_of(form) for form in PURPOSES} == PURPOSES
