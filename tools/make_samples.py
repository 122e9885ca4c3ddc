"""Writes the sample histories that come with the package: `python tools/make_samples.py [FOLDER]`."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from samples.chat import FILE as CHAT_FILE
from samples.chat import write_log
from samples.claude import ClaudeWriter
from samples.codex import CodexWriter
from samples.hermes import HermesWriter
from samples.project import Project
from samples.stories_claude import EARLY
from samples.stories_claude_later import ANOTHER_WAY, LATER, TAKEN_UP_AGAIN
from samples.stories_codex import ALL as CODEX
from samples.stories_codex import FORKED, RENAMED_FLAG
from samples.stories_hermes import ALL as HERMES
from samples.stories_hermes import MORNING_REPORT, NEXT_FRIDAY
from samples.stories_long import CARRIER_BY_CARRIER
from samples.story import Story
from samples.truth import Ledger, render

TARGET = Path(__file__).parent.parent / "src/seasoned/samples"


class Maker:
    """Plays all stories in the order of time on one project, so that every edit finds what the last one left."""

    def __init__(self) -> None:
        self.project = Project()
        self.files: dict[str, str] = {}
        self.ledgers: list[Ledger] = []
        self._claude: dict[str, ClaudeWriter] = {}
        self._codex: dict[str, CodexWriter] = {}
        self._hermes: dict[str, HermesWriter] = {}

    def make(self) -> None:
        """Every file of every agent, and the truth about them."""
        stories = [(story, self._play_claude) for story in (*EARLY, *LATER, CARRIER_BY_CARRIER)]
        stories += [(story, self._play_codex) for story in CODEX]
        stories += [(story, self._play_hermes) for story in HERMES]
        for story, play in sorted(stories, key=lambda pair: pair[0].start):
            play(story)
        self.files[CHAT_FILE], ledgers = write_log()
        self.ledgers += ledgers
        self.files["truth.json"] = render(self.ledgers)

    def _play_claude(self, story: Story) -> None:
        writer = ClaudeWriter(story, self.project)
        if story is ANOTHER_WAY:
            writer.fork_of(self._claude[TAKEN_UP_AGAIN.name])
        writer.play(story.steps)
        self._claude[story.name] = writer
        for each in (writer, *writer.side):
            self.files[each.file] = "\n".join(each.lines) + "\n"
            self.ledgers.append(each.ledger)
        for side in writer.side:
            self.files[side.file.removesuffix(".jsonl") + ".meta.json"] = '{"agentType":"Explore"}\n'

    def _play_codex(self, story: Story) -> None:
        writer = CodexWriter(story, self.project)
        parent = self._codex[RENAMED_FLAG.name] if story is FORKED else None
        writer.begin(fork_of=parent)
        writer.play(story.steps)
        self._codex[story.name] = writer
        self.files[writer.file] = "\n".join(writer.lines) + "\n"
        self.ledgers.append(writer.ledger)

    def _play_hermes(self, story: Story) -> None:
        writer = HermesWriter(story, self.project)
        if story is NEXT_FRIDAY:
            writer.goes_on_from(self._hermes[MORNING_REPORT.name])
        writer.play(story.steps)
        self._hermes[story.name] = writer
        self.files[writer.file] = writer.render()
        self.ledgers.append(writer.ledger)


def main(folder: Path) -> None:
    """Write everything below the folder and say how much it is."""
    maker = Maker()
    maker.make()
    for name, text in maker.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    for agent in sorted({ledger.agent for ledger in maker.ledgers}):
        ledgers = [ledger for ledger in maker.ledgers if ledger.agent == agent]
        rows = [row for ledger in ledgers for row in ledger.planted]
        counts = Counter(row.verdict for row in rows if not row.copy)
        copies = sum(row.copy for row in rows)
        sys.stdout.write(f"{agent}: {len(ledgers)} sessions, {len(rows)} calls, {copies} copies, {dict(counts)}\n")
    sys.stdout.write(f"{len(maker.files)} files, {sum(len(text.encode()) for text in maker.files.values())} bytes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
