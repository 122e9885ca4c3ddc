"""Rows for tools that change the shape of databases."""

from __future__ import annotations

from seasoned.confirm.mapping_row import ASKS, ELSEWHERE, TRIES, any_of, first, row

_NOT_HERE = f"{TRIES}|{ASKS}|{ELSEWHERE}"
_NOT_RUN = f"{TRIES}|{ASKS}"
_MIGRATES = "changes the shape of a database"
_WIPES = "drops a database or all that is in it"

MIGRATE = (
    row(
        "alembic",
        "alembic aerich",
        "migrate_database",
        _MIGRATES,
        any_of("upgrade downgrade stamp"),
        rf"{_NOT_RUN}|--sql",
    ),
    row("flask db", "flask", "migrate_database", _MIGRATES, r"^db (?:upgrade|downgrade|stamp)", rf"{_NOT_RUN}|--sql"),
    row("django", "manage.py django-admin", "migrate_database", _MIGRATES, first("migrate"), _NOT_RUN),
    row("django flush", "manage.py django-admin", "wipe_database", _WIPES, first("flush reset_db sqlflush-run")),
    row("django", "python python3", "migrate_database", _MIGRATES, r"manage\.py migrate(?= |$)", _NOT_RUN),
    row("django flush", "python python3", "wipe_database", _WIPES, r"manage\.py (?:flush|reset_db)(?= |$)"),
    row(
        "rails",
        "rails rake",
        "migrate_database",
        _MIGRATES,
        first(r"db:migrate(?!:status)\S* db:rollback db:seed:replant db:prepare"),
        _NOT_RUN,
    ),
    row(
        "rails drop",
        "rails rake",
        "wipe_database",
        _WIPES,
        any_of(r"db:(?:drop|reset|purge|schema:load|structure:load|migrate:reset|truncate_all)\S*"),
    ),
    row(
        "prisma",
        "prisma",
        "migrate_database",
        _MIGRATES,
        r"^(?:migrate (?:deploy|dev|resolve)|db (?:push|execute))\b",
        rf"{ASKS}|--create-only|^db push\b(?=.*--force-reset)",
    ),
    row("prisma reset", "prisma", "wipe_database", _WIPES, r"^migrate reset|--force-reset|--accept-data-loss"),
    row("flyway", "flyway", "migrate_database", _MIGRATES, any_of("migrate undo repair baseline"), ASKS),
    row("flyway clean", "flyway", "wipe_database", _WIPES, any_of("clean")),
    row(
        "liquibase",
        "liquibase",
        "migrate_database",
        _MIGRATES,
        any_of(r"update(?!-sql)\S* rollback(?!-sql)\S* changelog-sync"),
        ASKS,
    ),
    row("liquibase drop", "liquibase", "wipe_database", _WIPES, any_of("drop-all dropAll")),
    row(
        "node migrations",
        "knex sequelize sequelize-cli typeorm mikro-orm migrate-mongo node-pg-migrate db-migrate umzug",
        "migrate_database",
        _MIGRATES,
        any_of(
            r"migrate:(?:latest|up|down|rollback) db:migrate(?!:status)\S* migration:(?:run|revert|up|down)"
            r" schema:(?:sync|update) up down"
        ),
        _NOT_RUN,
    ),
    row(
        "node drop",
        "sequelize sequelize-cli typeorm mikro-orm",
        "wipe_database",
        _WIPES,
        any_of("db:drop schema:drop schema:fresh migration:fresh"),
    ),
    row("drizzle", "drizzle-kit", "migrate_database", _MIGRATES, first("push migrate")),
    row(
        "go migrations",
        "goose dbmate migrate sql-migrate tern atlas skeema sqitch yoyo",
        "migrate_database",
        _MIGRATES,
        any_of("up up-to up-by-one down down-to redo rollback migrate apply push deploy revert force goto"),
        _NOT_RUN,
    ),
    row("go drop", "migrate dbmate", "wipe_database", _WIPES, any_of("drop")),
    row(
        "rust migrations",
        "sqlx diesel",
        "migrate_database",
        _MIGRATES,
        r"^(?:migrate (?:run|revert)|migration (?:run|revert|redo))",
    ),
    row("rust drop", "sqlx diesel", "wipe_database", _WIPES, r"^(?:db|database) (?:drop|reset)"),
    row("artisan", "artisan", "migrate_database", _MIGRATES, first("migrate migrate:rollback"), r"--pretend"),
    row(
        "artisan wipe", "artisan", "wipe_database", _WIPES, first("migrate:fresh migrate:reset migrate:refresh db:wipe")
    ),
    row(
        "artisan",
        "php",
        "migrate_database",
        _MIGRATES,
        r"artisan (?:migrate|migrate:rollback)(?= |$)|doctrine:migrations:migrate",
        r"--pretend|--dry-run",
    ),
    row(
        "artisan wipe",
        "php",
        "wipe_database",
        _WIPES,
        r"artisan (?:migrate:(?:fresh|reset|refresh)|db:wipe)|doctrine:(?:schema|database):drop",
    ),
    row("ecto", "mix", "migrate_database", _MIGRATES, first(r"ecto\.migrate ecto\.rollback")),
    row("ecto drop", "mix", "wipe_database", _WIPES, first(r"ecto\.drop ecto\.reset")),
    row(
        "supabase",
        "supabase hasura",
        "migrate_database",
        _MIGRATES,
        r"^(?:db push|migration (?:up|repair)|migrate apply)",
        _NOT_RUN,
    ),
    row("supabase reset", "supabase", "wipe_database", _WIPES, r"^db reset"),
    row("ef", "dotnet dotnet-ef", "migrate_database", _MIGRATES, r"^(?:ef )?database update"),
    row("ef drop", "dotnet dotnet-ef", "wipe_database", _WIPES, r"^(?:ef )?database drop", _NOT_RUN),
    row("d1", "wrangler", "migrate_database", _MIGRATES, r"^d1 (?:migrations apply|execute)", r"--local|" + ELSEWHERE),
    row("heroku pg", "heroku", "wipe_database", _WIPES, first("pg:reset pg:push addons:destroy")),
    row(
        "online schema change", "gh-ost pt-online-schema-change pg_upgrade", "migrate_database", _MIGRATES, r"\S", ASKS
    ),
    row(
        "migrate script",
        "make just task",
        "migrate_database",
        "runs the project's own migrations",
        r"(?:^| )(?:db[-_:])?migrate(?:[-_:](?:up|down|prod\S*|latest|deploy))?(?= |$)",
        rf"{_NOT_RUN}|^-n ",
    ),
    row(
        "migrate script",
        "npm pnpm yarn bun",
        "migrate_database",
        "runs the project's own migrations",
        r"^(?:run(?:-script)? )?(?:db:)?migrate(?::(?:up|down|prod\S*|latest|deploy|run))?(?= |$)",
    ),
)
