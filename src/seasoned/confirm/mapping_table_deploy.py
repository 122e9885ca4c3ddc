"""Rows for what changes what runs for users."""

from __future__ import annotations

from seasoned.confirm.mapping_row import ASKS, ELSEWHERE, TRIES, any_of, first, row

_NOT_HERE = f"{TRIES}|{ASKS}|{ELSEWHERE}"
_NOT_RUN = f"{TRIES}|{ASKS}"
_DEPLOYS = "changes what runs for users"
_STAGE = r"(?:stag|dev|preview|test|docs?|pages|storybook|local|sandbox|qa|demo|dry)"

DEPLOY = (
    row(
        "kubectl apply",
        "kubectl oc k",
        "deploy_production",
        _DEPLOYS,
        first("apply create replace patch edit set run expose autoscale scale label annotate taint kustomize-apply"),
        rf"{_NOT_HERE}|(?:^| )(?:rolebinding|clusterrolebinding|role|clusterrole|secret)(?= |$)|--replicas[ =]0(?= |$)",
    ),
    row("kubectl rollout", "kubectl oc k", "deploy_production", _DEPLOYS, r"^rollout (?:restart|undo)", _NOT_HERE),
    row(
        "helm", "helm helmfile", "deploy_production", _DEPLOYS, first("install upgrade rollback sync apply"), _NOT_HERE
    ),
    row(
        "compose in production",
        "docker podman nerdctl docker-compose podman-compose",
        "deploy_production",
        _DEPLOYS,
        r"^(?=.*(?:^| )(?:-f|--file|-p|--project-name|--env-file|--context|-c)[ =]\S*prod)"
        r"(?=.*(?:^| )(?:up|create)(?= |$))|^stack deploy\b",
        _NOT_RUN,
    ),
    row("terraform apply", "terraform tofu terragrunt", "deploy_production", _DEPLOYS, any_of("apply import"), ASKS),
    row(
        "terraform state", "terraform tofu terragrunt", "deploy_production", _DEPLOYS, r"^state (?:rm|push|mv)|^taint "
    ),
    row("pulumi up", "pulumi", "deploy_production", _DEPLOYS, first("up update import refresh"), _NOT_HERE),
    row("cdk deploy", "cdk cdktf sam copilot eb ecs-cli", "deploy_production", _DEPLOYS, any_of("deploy"), _NOT_HERE),
    row("serverless", "serverless sls", "deploy_production", _DEPLOYS, first("deploy"), _NOT_HERE),
    row("vercel", "vercel vc now", "deploy_production", _DEPLOYS, any_of("--prod --production promote rollback"), ASKS),
    row("vercel", "vercel vc", "deploy_production", _DEPLOYS, r"--target[ =]production"),
    row("netlify", "netlify ntl", "deploy_production", _DEPLOYS, r"^deploy\b.* (?:--prod|-p)(?= |$)", ASKS),
    row(
        "wrangler", "wrangler", "deploy_production", _DEPLOYS, r"^(?:deploy|publish|rollback|pages deploy)\b", _NOT_HERE
    ),
    row("firebase", "firebase", "deploy_production", _DEPLOYS, first("deploy"), rf"{_NOT_HERE}|(?:^| )-P (?:dev|stag)"),
    row("fly", "fly flyctl", "deploy_production", _DEPLOYS, first("deploy launch"), _NOT_HERE),
    row(
        "fly", "fly flyctl", "deploy_production", _DEPLOYS, r"^(?:scale|machines? update)\b", rf"{_NOT_HERE}|scale show"
    ),
    row("railway", "railway", "deploy_production", _DEPLOYS, first("up redeploy"), _NOT_HERE),
    row(
        "heroku",
        "heroku",
        "deploy_production",
        _DEPLOYS,
        first(r"config:set config:unset container:release releases:rollback rollback pipelines:promote ps:scale"),
        rf"{_NOT_HERE}|ps:scale \S+=0",
    ),
    row(
        "git push heroku",
        "git",
        "deploy_production",
        _DEPLOYS,
        r"^push (?:-\S+ )*(?:heroku|dokku|prod(?:uction)?|live)\b",
    ),
    row(
        "aws deploy",
        "aws",
        "deploy_production",
        _DEPLOYS,
        r"^(?:cloudformation (?:deploy|create-stack|update-stack|"
        r"execute-change-set)|ecs (?:update-service|run-task|create-service)|lambda (?:update-function-\S+"
        r"|publish-version|"
        r"update-alias|create-function)|deploy create-deployment|elasticbeanstalk update-environment|"
        r"apprunner start-deployment|amplify start-job|autoscaling (?:set|update)-\S+|ec2 run-instances|route53"
        r" change-\S+|"
        r"eks update-\S+|codepipeline start-\S+|rds modify-\S+)\b",
        rf"{ASKS}|--dry-run|--desired-count[ =]0",
    ),
    row(
        "gcloud deploy",
        "gcloud",
        "deploy_production",
        _DEPLOYS,
        r"(?:^| )(?:app|run|functions|endpoints services|builds triggers|deploy|deployment-manager)\b.*"
        r" ?(?:deploy|submit"
        r"|update-traffic|replace|migrate|set-traffic|promote)(?= |$)",
        _NOT_HERE,
    ),
    row(
        "az deploy",
        "az azd",
        "deploy_production",
        _DEPLOYS,
        r"^(?:webapp (?:deploy|up|deployment slot swap)|functionapp deploy|deployment \w+ create|containerapp"
        r" (?:up|update)"
        r"|up|deploy|aks (?:update|upgrade)|acr run)\b",
        _NOT_HERE,
    ),
    row("doctl", "doctl", "deploy_production", _DEPLOYS, r"^apps (?:update|create-deployment)", _NOT_HERE),
    row(
        "capistrano",
        "cap kamal mina dokku fab",
        "deploy_production",
        _DEPLOYS,
        any_of(r"\S*deploy\S* redeploy rollback"),
        rf"{_NOT_RUN}|^(?:stag|dev)|(?:^| )(?:staging|dev|test)(?= |$)",
    ),
    row("argocd", "argocd", "deploy_production", _DEPLOYS, r"^app (?:sync|rollback|set|create)", _NOT_RUN),
    row("flux", "flux", "deploy_production", _DEPLOYS, first("reconcile resume bootstrap")),
    row("nomad", "nomad", "deploy_production", _DEPLOYS, r"^(?:job )?run\b", _NOT_RUN),
    row(
        "docker stack",
        "docker",
        "deploy_production",
        _DEPLOYS,
        r"^(?:stack deploy|service (?:update|create|scale|rollback))\b",
        r"=0(?= |$)",
    ),
    row("skaffold", "skaffold tanka waypoint", "deploy_production", _DEPLOYS, first("run deploy apply up"), _NOT_HERE),
    row(
        "gh workflow run",
        "gh",
        "deploy_production",
        "starts a workflow that changes what runs for users",
        r"^workflow run \S*(?:deploy|prod|release|ship)",
        r"(?:stag|preview|dev)",
    ),
    row(
        "deploy script",
        "make just task rake invoke inv nx turbo ant",
        "deploy_production",
        "runs the project's own deployment",
        rf"(?:^| )(?:(?!\S*{_STAGE})\S*[-_:./])?(?:deploy|ship|rollout|promote)"
        rf"(?![\w]*\.)(?:[-_:](?!{_STAGE})\S*)?(?= |$)",
        rf"{_NOT_RUN}|^-n |(?:^| )(?:staging|dev|preview)(?= |$)",
    ),
    row(
        "deploy script",
        "npm pnpm yarn bun",
        "deploy_production",
        "runs the project's own deployment",
        rf"^(?:run(?:-script)? )?deploy(?:[:-](?!{_STAGE})\S*)?(?= |$)",
    ),
    row(
        "deploy script",
        "deploy.sh deploy deploy-prod.sh deploy_prod.sh deploy-production.sh deploy_production.sh "
        "deploy.py deploy-prod deploy_production release.sh ship.sh rollout.sh",
        "deploy_production",
        "runs the project's own deployment",
        unless=rf"{_NOT_RUN}|(?:^| )(?:--env[ =]|-e )?(?:staging|dev|preview|test)(?= |$)",
    ),
)
