"""Which commands need which action, as data: every row, by the program that it speaks of."""

from __future__ import annotations

from seasoned.command.parse import names
from seasoned.confirm.mapping_row import Row
from seasoned.confirm.mapping_table_data import BACKUP, CLOUD, DATABASE, DISK, GIT, SQL_PROGRAMS
from seasoned.confirm.mapping_table_deploy import DEPLOY
from seasoned.confirm.mapping_table_machine import REMOTE, STOP
from seasoned.confirm.mapping_table_migrate import MIGRATE
from seasoned.confirm.mapping_table_publish import PUBLISH
from seasoned.confirm.mapping_table_right import KEY, MONEY, RIGHT

ROWS: tuple[Row, ...] = (
    *DISK,
    *CLOUD,
    *BACKUP,
    *GIT,
    *DATABASE,
    *RIGHT,
    *KEY,
    *MONEY,
    *DEPLOY,
    *PUBLISH,
    *MIGRATE,
    *STOP,
    *REMOTE,
)
BY_PROGRAM: dict[str, tuple[Row, ...]] = {}
for _each in ROWS:
    for _program in _each.programs:
        BY_PROGRAM[_program] = (*BY_PROGRAM.get(_program, ()), _each)
DATABASES = names(SQL_PROGRAMS)
GRAVITY = (
    "wipe_database",
    "transfer_funds",
    "delete_data",
    "rotate_keys",
    "modify_permissions",
    "deploy_production",
    "migrate_database",
    "shutdown_service",
    "publish_package",
    "exec_remote",
)
"""Which action is asked for where several are found: the one that can be undone the least."""
