"""Neutral words and names that stand for those of other sessions, and words that stay because they say nothing."""

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


SHORT = (
    "acorn amber apron arch atlas bale barn basin birch bloom brook cabin cedar chalk cliff clover coral cove"
    " crate crest dune ember fern fjord flint glen grove harp hazel heron hill iris ivory kelp kiln lake larch lilac"
    " loft lotus maple marsh mesa mint moss oak olive onyx opal orbit otter palm pearl pine plum pond quill quilt reef"
    " ridge river robin slate spark spruce swan thyme tulip vale willow wren"
)
LONG = (
    "almanac anchorage aqueduct arboretum balustrade barometer bellflower blackbird boathouse bookbinder bramble"
    " butterfly campfire candlewick carousel cartwheel causeway chandelier chestnut cloudberry cobblestone compass"
    " cornflower courtyard crossroads cupboard daffodil driftwood dragonfly evergreen farmhouse fireplace footbridge"
    " foxglove gazebo gooseberry gramophone greenhouse hawthorn headland hillside hollyhock honeycomb horizon"
    " hourglass jasmine juniper kingfisher lakeside lavender lemonade lighthouse limestone magnolia marigold"
    " marketplace meadowlark mountain mulberry nightingale nutmeg orchard parchment peppermint primrose promenade"
    " quarry raspberry riverbank rosemary saffron sandstone seashell snowdrop sparrow starling strawberry sunflower"
    " tangerine teapot thistle tortoise turnstile typewriter umbrella vineyard violin waterfall wheelbarrow wildflower"
    " windmill woodpecker workbench"
)
GIVEN = (
    "aiko alma amara anton arlo astrid basil bruno callum carmen celia clara dalia dario edith emil enzo esme"
    " farah felix flora gideon greta hana hugo ilse imani ines ingrid jonas jude kaito keira lars leila linnea lorenzo"
    " luca mabel malik marta mateo milo mira nadia niko nora odile olga omar orla otto paloma petra priya"
    " quentin rafael"
    " renata rohan rosa ruben sana selma silas stella sven tamsin tariq thea tomas ursula vera viggo wanda xenia yara"
    " yusra zora"
)
FAMILY = (
    "abbott baptiste bergman calloway castellan corbin dalton delacroix ellery fairfax farrow galloway"
    " hartmann holloway ishida jansson kessler langley lindqvist marlowe merrick moreau novak okafor okonkwo osborne"
    " pemberton quimby rasmussen rinaldi sadler santoro sinclair solberg tanaka thackeray vandermeer vasquez whitlock"
    " winslow yamada zeller"
)
STREETS = names("street avenue road drive lane court way boulevard place square terrace suite apt apartment floor unit")
MAILBOXES = ("jane", "john", "info", "hello", "contact", "support")
MAIL_HOSTS = ("example.com", "example.org", "example.net")
"""Addresses that are set aside for documents: they reach nobody, and no redactor takes them for a person's."""

KEPT = TOOLS | names(
    # Folders and files of every machine and project.
    "home users user root tmp temp var usr etc opt bin sbin lib lib64 dev proc sys mnt media srv run private library"
    " volumes applications documents desktop downloads pictures windows system32 program files appdata local roaming"
    " workspace workspaces work project projects repo repos code src source sources test tests testing spec specs doc"
    " docs example examples sample samples script scripts tool tools cmd pkg internal vendor third_party node_modules"
    " dist build target out output outputs input inputs bin obj debug release public static assets images img css js"
    " styles templates template views view pages page components component hooks hook api apis app apps web www server"
    " client core common shared util utils helper helpers lib libs module modules package packages plugin plugins"
    " extension extensions config configs conf settings setting env environment data database db migrations migration"
    " schema schemas model models controller controllers service services store stores state types type interfaces"
    " interface constants errors error log logs cache session sessions state backup backups archive archives fixtures"
    " fixture mock mocks e2e integration unit bench benchmark benchmarks ci git github gitlab workflows"
    " workflow actions"
    " action readme license changelog contributing makefile dockerfile main index init setup version manifest lock"
    " requirements pyproject package tsconfig venv virtualenv site dist python python3 node go rust java ruby php bash"
    " shell zsh fish docker kubernetes k8s worktree worktrees branch feature fix bugfix hotfix chore refactor master"
    " origin upstream head refs heads tags remote remotes origin notebook notebooks task tasks issue"
    " issues item items order orders product products account accounts"
    " payment payments credit card gift paypal method methods transaction invoice ticket call msg message messages chat"
    " agent agents job jobs request response result results event events queue worker workers token tokens key keys id"
    " ids uuid hash name names number date time timestamp day week month year file folder directory path url uri host"
    " port http https ftp ssh ws wss json yaml yml xml html txt md csv toml ini sql log sh py ts tsx jsx"
    # Words of programming languages and shells; a changed one would be another program.
    " abstract alias and any array as assert async await bool boolean break byte case catch char class const continue"
    " def default defer del delete do done double elif else elsif end enum esac except export extends extern false fi"
    " final finally float fn for foreach from func function global goto if impl implements import in include inline"
    " instanceof int is lambda let long loop map match mod mut namespace new nil none not null object of or override"
    " pass print private protected pub raise range read return select self set short signed sizeof static str string"
    " struct super switch synchronized then this throw throws trait true try typedef typeof undefined union unless"
    " unsigned until use using val void volatile when where while with write yield"
    # Programs and their subcommands.
    " add apply awk base64 cargo cat cd chmod chown clean clone commit cp curl cut diff du echo fetch find grep head"
    " help install kill less ln ls make merge mkdir more mv npm npx open patch pip pnpm ps pull push pwd pytest rebase"
    " remove reset restore rg rm rmdir sed show sleep sort source start stash status stop tail tar tee touch tr tree"
    " uniq unzip update uv wc wget which xargs yarn zip lint format check watch serve deploy publish"
    # Words between other words.
    " a about after all also am an are at be because been before both but by can could did does doing each few have"
    " has had having he her here hers him his how i into it its just like me my no nor now off on once only other our"
    " out over own same she should so some such than that the their them there these they to too under up very was we"
    " were what who why will would you your yours please thanks hello hi yes ok okay let need want make get using"
)
"""Words that say nothing about anyone. They stay wherever they stand."""
ANYONE = names(
    "user users root admin administrator guest ubuntu debian runner vscode node app dev developer me shared public"
    " default circleci travis jenkins build agent nobody test tester first last unknown none name value"
    " copilot codex claude gemini cursor dependabot renovate bot"
)
"""Accounts that are no person's."""
HOST_LABELS = names("www api docs app mail static cdn dev test staging admin blog raw git auth hooks web")
ENDINGS = names(
    "com org net io dev app ai co uk de fr nl eu us ca au jp cn in br it es ch se no fi dk pl ru gov edu mil int info"
    " biz tech cloud sh me tv xyz site online local internal lan example invalid"
)
VAGUE_ENDINGS = names(
    "app co us in it es no me ai info int site local internal example invalid cloud tech online sh tv"
)
"""Endings that are words, too: `logger.info` is no host."""
EXTENSIONS = names(
    "go py pyi pyc pl pm js mjs cjs ts tsx jsx vue svelte md mdx rst json jsonl json5 yaml yml toml txt sh bash zsh"
    " rs java kt"
    " kts c h cc cpp hpp cs rb php html htm css scss sass less lock sql ini cfg conf env xml csv tsv log png"
    " jpg jpeg gif"
    " webp ico svg pdf ipynb zip gz tgz tar bz2 xz whl jar swift lua ex exs erl hs ml proto mod sum db sqlite"
    " sqlite3 bak"
    " tmp diff patch pem crt key service socket timer map wasm so dll exe bin dat parquet npy pkl pt onnx gguf"
    " tf tfvars"
    " gradle properties plist m mm r jl dart zig nim tex bib doc docx xls xlsx ppt pptx mp3 mp4 wav mov"
)
