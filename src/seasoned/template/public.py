"""What is everybody's and stays as it is: public hosts, media types, folders of every system, tools and packages."""

from __future__ import annotations

from seasoned.command.parse import names
from seasoned.lazy_regex import LazyRegex

# By their endings: whatever stands before such a name belongs to the same public place.
_HOSTS = {
    "com": names(
        "github githubusercontent gitlab stackoverflow example npmjs docker googleapis gstatic cloudflare"
        " jsdelivr unpkg microsoft mozilla google youtube openai anthropic claude python-poetry visualstudio"
        " rubyonrails yarnpkg stackexchange jetbrains readthedocs apple oracle hashicorp"
    ),
    "org": names(
        "example pypi pythonhosted npmjs w3 json-schema xmlsoap wikipedia python golang mozilla gnu apache"
        " bitbucket kernel debian rust-lang nodejs postgresql sqlite maven gradle schema ietf rubygems packagist"
        " letsencrypt reactjs vuejs eslint opencontainers openapis conventionalcommits keepachangelog semver"
    ),
    "net": names("example debian launchpad"),
    "io": names("docker k8s quay gcr ghcr crates readthedocs shields kubernetes"),
    "in": names("gopkg"),
    "dev": names("go pkg vitejs react"),
    "rs": names("docs lib"),
    "ai": names("claude"),
    "uk": names("example"),
    "sh": names("brew bun astral"),
}
MODULE_HOSTS = names("golang gopkg k8s")
"""Everything below them is a published package."""
_MEDIA = names("application audio font image message model multipart text video")
_MEDIUM = LazyRegex(
    r"(?:x-|vnd\.|prs\.)[\w.-]+|\*|(?:json|xml|html|plain|css|csv|javascript|ecmascript|markdown|calendar|event-stream"
    r"|octet-stream|pdf|zip|gzip|tar|rtf|sql|yaml|toml|graphql|wasm|protobuf|msgpack|cbor|ld|manifest|problem|hal"
    r"|form-data|mixed|alternative|related|byteranges|digest|png|jpeg|jpg|gif|webp|svg|bmp|tiff|avif|heic|apng|mp4|mpeg"
    r"|ogg|webm|wav|flac|aac|midi|quicktime|woff2?|ttf|otf|collection|rfc822|partial|http|pkcs\d+|pgp-\w+|jwt|jose"
    r"|ndjson|jsonl?|geo|soap|atom|rss|xhtml|epub|msword|postscript|typescript|vtt|tab-separated-values|richtext)\Z"
)
_SYSTEM = names("usr bin sbin etc lib lib32 lib64 proc sys dev boot System Library Applications")
_VARIABLE = names("lib log run cache spool tmp")
_OPTIONAL = names(
    "homebrew local google hostedtoolcache venv conda miniconda miniconda3 anaconda3 java node python intel"
    " nvidia aws containerd cni docker microsoft rocm ros vc oracle"
)
RUN_FROM = names("bin sbin libexec")
PUBLISHED = names("node_modules site-packages dist-packages gems bower_components")
"""What lies below them was published by somebody for everybody."""

TOOLS = names(
    # Programs.
    "perl psql pg_dump pg_restore postgres postgresql mysql mysqldump mariadb sqlite redis mongo mongodb mongosh"
    " memcached kafka rabbitmq elasticsearch nginx apache apache2 httpd haproxy traefik caddy systemd systemctl"
    " journalctl cron crontab syslog dmesg ansible terraform vagrant helm kubectl minikube podman containerd"
    " compose gcloud aws azure heroku vercel netlify gh hub glab svn hg bazel cmake ninja meson gradle maven mvn"
    " ant sbt lein rustc rustup clippy rustfmt clang gcc llvm gdb lldb valgrind strace ltrace objdump readelf nm"
    " xxd hexdump openssl gpg ssh-keygen rsync scp sftp netcat nc nmap ping dig nslookup traceroute ip ifconfig"
    " netstat ss lsof htop top jq yq fzf bat fd ripgrep ag vim nvim emacs nano tmux screen zellij brew apt apt-get"
    " dpkg yum dnf apk pacman snap flatpak poetry pipenv pipx conda mamba hatch tox nox black isort flake8 pylint"
    " mypy pyright ruff bandit coverage gunicorn uvicorn celery deno bun tsc tsx esbuild rollup webpack vite"
    " vitest jest mocha karma cypress playwright puppeteer selenium storybook eslint prettier biome stylelint"
    " babel turbo lerna nx corepack nodemon pm2 composer phpunit artisan bundle bundler gem rake rspec rubocop"
    " rails gofmt golint golangci golangci-lint goimports gopls delve dlv protoc buf ffmpeg imagemagick pandoc"
    " latex pdflatex jupyter ipython streamlit grafana prometheus loki jaeger sentry datadog splunk wireshark"
    " tcpdump sha256sum md5sum nohup timeout env xdg"
    # Packages.
    " react vue angular svelte nextjs nuxt express fastify nestjs koa lodash axios redux tailwind tailwindcss"
    " bootstrap jquery typescript javascript coffeescript django flask fastapi starlette pydantic sqlalchemy"
    " alembic requests aiohttp httpx numpy scipy pandas polars matplotlib seaborn sklearn scikit-learn torch"
    " pytorch torchvision tensorflow keras transformers tokenizers datasets huggingface langchain openai anthropic"
    " boto3 botocore pillow opencv cv2 sympy networkx pyyaml setuptools wheel distutils importlib asyncio unittest"
    " logging hypothesis werkzeug jinja jinja2 click typer spring springframework hibernate junit mockito tokio"
    " serde rayon clap anyhow golang kotlin scala haskell erlang elixir clojure ocaml fortran swift dotnet nuget"
    " csharp wasm webassembly graphql grpc protobuf swagger openapi oauth oauth2 jwt kubernetes linux darwin macos"
    " ubuntu debian alpine centos fedora redhat android ios chrome chromium firefox safari webkit electron vscode"
    " jetbrains intellij xcode npmrc gitignore eslintrc latest stable nightly alpha beta canary"
)
"""Programs and packages that everybody uses."""


def is_public(host: str) -> bool:
    """Whether a host is everybody's."""
    labels = host.lower().split(".")
    if len(labels) < 2:
        return labels[0] == "localhost"
    if len(labels) > 2 and labels[-2] == "co":
        return labels[-3] == "example"
    return labels[-2] in _HOSTS.get(labels[-1], ())


def is_medium(text: str) -> bool:
    """Whether a text such as `text/html` is a type of content and no path."""
    kind, slash, sub = text.partition("/")
    return bool(slash) and kind.lower() in _MEDIA and _MEDIUM.compiled.match(sub.lower()) is not None


def system_depth(segments: list[str]) -> int:
    """How many segments lead into a folder that every machine of a system has; 0 where a path leads elsewhere."""
    if len(segments) < 2:
        return 0
    first, second, *rest = segments
    if first == "":
        if second in _SYSTEM:
            return 2
        if rest and ((second == "var" and rest[0] in _VARIABLE) or (second == "opt" and rest[0].lower() in _OPTIONAL)):
            return 3
    if first[1:] == ":" and (second.lower() in ("windows", "program files", "programdata")):
        return 2
    return 0
