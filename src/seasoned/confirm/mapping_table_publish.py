"""Rows for packages and images that everyone gets."""

from __future__ import annotations

from seasoned.confirm.mapping_row import ASKS, ELSEWHERE, TRIES, any_of, first, row

_NOT_HERE = f"{TRIES}|{ASKS}|{ELSEWHERE}"
_NOT_RUN = f"{TRIES}|{ASKS}"
_PUBLISHES = "publishes to everyone, which cannot be taken back"

PUBLISH = (
    row(
        "npm publish",
        "npm pnpm yarn bun",
        "publish_package",
        _PUBLISHES,
        r"^(?:npm )?(?:-r |--recursive |workspaces? \S+ )?(?:publish|unpublish|deprecate|dist-tag (?:add|rm"
        r"|set))(?= |$)",
        TRIES,
    ),
    row(
        "npm run publish",
        "npm pnpm yarn bun make just task",
        "publish_package",
        "runs the project's own release",
        r"^(?:run(?:-script)? )?(?:release|publish|semantic-release)(?::(?!dry|docs?|site|local|test)\S*)?(?= |$)",
        _NOT_RUN,
    ),
    row("twine upload", "twine", "publish_package", _PUBLISHES, first("upload"), r"(?:-r|--repository) ?=?testpypi"),
    row(
        "python publish",
        "uv poetry hatch flit pdm maturin rye",
        "publish_package",
        _PUBLISHES,
        first("publish upload"),
        rf"{_NOT_RUN}|testpypi",
    ),
    row("setup.py upload", "setup.py", "publish_package", _PUBLISHES, any_of("upload register")),
    row(
        "cargo publish",
        "cargo",
        "publish_package",
        _PUBLISHES,
        first("publish yank owner release"),
        rf"{_NOT_RUN}|(?:^| )-n(?= |$)",
    ),
    row(
        "gem push",
        "gem pod choco snapcraft charmcraft",
        "publish_package",
        _PUBLISHES,
        r"^(?:trunk )?(?:push|yank|upload|release)(?= |$)",
    ),
    row("rake release", "rake", "publish_package", _PUBLISHES, first("release")),
    row("maven deploy", "mvn mvnw", "publish_package", _PUBLISHES, any_of("deploy deploy:deploy release:perform")),
    row(
        "gradle publish",
        "gradle gradlew sbt lein clj mill",
        "publish_package",
        _PUBLISHES,
        r"(?:^| )(?:\S*:)?(?:publish(?!ToMavenLocal|Local)\S*|deploy|+publish|sonatypeRelease)(?= |$)".replace(
            "|+p", r"|\+p"
        ),
        TRIES,
    ),
    row("nuget push", "dotnet nuget", "publish_package", _PUBLISHES, r"^(?:nuget )?(?:push|delete)(?= |$)"),
    row(
        "image push",
        "docker podman nerdctl buildah",
        "publish_package",
        "publishes an image",
        r"^(?:image |manifest |compose )?push(?= |$)",
        r"(?:^| )(?:localhost|127\.0\.0\.1|kind-registry)(?::\d+)?/",
    ),
    row(
        "image push",
        "docker podman",
        "publish_package",
        "publishes an image",
        r"^(?:buildx )?(?:build|bake)\b.* --push(?= |$)",
    ),
    row(
        "image push",
        "crane skopeo oras ko helm",
        "publish_package",
        "publishes an image",
        r"^(?:push|copy|cp|publish|build)\b",
        r"^(?!.*(?:push|docker://\S+ docker://|crane|oci://)).*$|localhost",
    ),
    row(
        "gh release",
        "gh glab",
        "publish_package",
        _PUBLISHES,
        r"^release (?:create|edit|upload)(?= |$)",
        r"--draft(?: |=true|$)",
    ),
    row(
        "release tool",
        "semantic-release release-it np lerna changeset changesets goreleaser auto standard-version cargo-release",
        "publish_package",
        _PUBLISHES,
        r"^(?:publish|release|shipit)?(?= |$)",
        rf"{_NOT_RUN}|-d(?= |$)|--snapshot|--no-publish|--ci=false",
    ),
    row("pub publish", "dart flutter", "publish_package", _PUBLISHES, r"^pub (?:publish|lish)", _NOT_RUN),
    row("hex publish", "mix rebar3", "publish_package", _PUBLISHES, first(r"hex\.publish hex")),
    row(
        "extension",
        "vsce ovsx jsr deno wasm-pack luarocks anaconda cabal stack opam cpan-upload tessl",
        "publish_package",
        _PUBLISHES,
        first("publish upload unpublish"),
        _NOT_RUN,
    ),
    row("model upload", "hf huggingface-cli", "publish_package", _PUBLISHES, first("upload upload-large-folder")),
    row(
        "app store",
        "fastlane eas",
        "publish_package",
        _PUBLISHES,
        any_of("release deliver submit supply upload_to_app_store production"),
    ),
)
