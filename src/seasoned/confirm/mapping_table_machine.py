"""Rows for what stops, and for what runs on other machines."""

from __future__ import annotations

from seasoned.confirm.mapping_row import ASKS, ELSEWHERE, TRIES, any_of, first, row

_STOPS = "stops a service that others may be using"
_MACHINE = "stops the machine"
_REMOTE = "runs or copies something on another machine"
_SERVICES = (
    r"(?:nginx|httpd|apache2?|postgres\S*|postmaster|mysqld?|mariadbd?|redis(?:-server)?|mongod?|dockerd?"
    r"|containerd|kubelet|sshd?|systemd\S*"
    r"|crond?|rabbitmq\S*|beam\.smp|elasticsearch|kafka|haproxy|envoy|traefik|caddy|named|dhcpd|NetworkManager"
    r"|consul|vault|etcd|memcached"
    r"|php-fpm\S*|supervisord|launchd|init|WindowServer|Xorg|gdm|login|seasoned)"
)
_STOPPING = (
    "stop disable mask kill restart try-restart poweroff reboot halt isolate suspend hibernate rescue emergency kexec"
)

STOP = (
    row(
        "shutdown",
        "shutdown reboot halt poweroff Stop-Computer Restart-Computer",
        "shutdown_service",
        _MACHINE,
        unless=r"(?:^| )(?:-c|--show|-w|--wtmp-only|--help)(?= |$)",
    ),
    row("init", "init telinit", "shutdown_service", _MACHINE, first("[016]")),
    row("systemctl", "systemctl", "shutdown_service", _STOPS, first(_STOPPING), TRIES + "|" + ASKS),
    row(
        "service",
        "service rc-service invoke-rc.d initctl sv svc s6-svc",
        "shutdown_service",
        _STOPS,
        r"(?:^| )(?:stop|restart|down|force-stop|force-restart|-d|-t|-k)(?= |$)",
    ),
    row("init.d", "nginx apache2 postgresql mysql redis-server ssh", "shutdown_service", _STOPS, r"^(?:stop|restart)$"),
    row("chkconfig", "chkconfig update-rc.d", "shutdown_service", _STOPS, any_of("off disable remove --del")),
    row("launchctl", "launchctl", "shutdown_service", _STOPS, first("unload bootout stop kill remove disable reboot")),
    row(
        "supervisors",
        "supervisorctl pm2 monit circusctl god forever overmind runit",
        "shutdown_service",
        _STOPS,
        first("stop delete kill shutdown restart stopall unmonitor remove"),
    ),
    row(
        "server tools",
        "apachectl apache2ctl httpd nginx caddy haproxy",
        "shutdown_service",
        _STOPS,
        r"(?:^| )(?:-k (?:stop|restart|graceful-stop)|-s (?:stop|quit)|stop|graceful-stop)(?= |$)",
    ),
    row(
        "database servers",
        "pg_ctl pg_ctlcluster mysqladmin mongod rabbitmqctl redis-cli valkey-cli etcdctl brew",
        "shutdown_service",
        _STOPS,
        r"(?i)(?:^| )(?:stop|restart|shutdown|--shutdown|stop_app|kill|stop-all-slaves|services stop)(?= |$)",
        r"^(?:uninstall|install)\b|-m smart --dry",
    ),
    row(
        "kill by name",
        "pkill killall skill",
        "shutdown_service",
        _STOPS,
        rf"(?:^| ){_SERVICES}(?= |$)",
        r"(?:^| )(?:-0|-l)(?= |$)",
    ),
    row("kill by name", "killall5", "shutdown_service", _MACHINE),
    row(
        "kill by name",
        "taskkill Stop-Process Stop-Service sc net sc.exe net.exe",
        "shutdown_service",
        _STOPS,
        r"(?i)^(?:stop\b|delete\b)|/im (?:nginx|httpd|mysqld|postgres|sqlservr|w3wp|redis-server|docker\S*)",
    ),
    row("Stop-Service", "Stop-Service Disable-Service Restart-Service", "shutdown_service", _STOPS, r"\S"),
    row(
        "kill 1",
        "kill",
        "shutdown_service",
        "ends every process, or the first of all",
        r"(?:^| )-1$|(?:^| )-\S+ (?:--? ?)?1(?= |$)|^1(?= |$)|(?:^| )-- -1(?= |$)",
    ),
    row(
        "fuser -k",
        "fuser",
        "shutdown_service",
        _STOPS,
        r"(?=.*(?:^| )-\w*k)(?=.*(?:^| )(?:\d{1,3}|3306|5432|6379|27017|9200|5672)/(?:tcp|udp))",
    ),
    row(
        "docker stop",
        "docker podman nerdctl",
        "shutdown_service",
        _STOPS,
        r"^(?:container )?(?:stop|kill|restart|pause)(?= |$)|^(?:container )?rm\b.* (?:-\w*f\w*|--force)(?= |$)"
        r"|^compose\b(?:.* )?(?:down|stop|kill|restart|rm)(?= |$)"
        r"|^(?:service|stack|node) (?:rm|remove)\b|^swarm leave|^service (?:scale|update)\b.*=0(?= |$)",
    ),
    row(
        "docker stop", "docker-compose podman-compose", "shutdown_service", _STOPS, any_of("down stop kill restart rm")
    ),
    row(
        "kubectl delete",
        "kubectl oc k",
        "shutdown_service",
        "deletes what runs in a cluster",
        first("delete"),
        TRIES + "|" + ELSEWHERE,
    ),
    row("kubectl drain", "kubectl oc k", "shutdown_service", _STOPS, first("drain cordon evict"), TRIES),
    row(
        "kubectl scale 0",
        "kubectl oc k",
        "shutdown_service",
        _STOPS,
        r"^scale\b.*--replicas[ =]0(?= |$)",
        TRIES + "|" + ELSEWHERE,
    ),
    row(
        "helm uninstall",
        "helm helmfile",
        "shutdown_service",
        _STOPS,
        first("uninstall delete del destroy un"),
        TRIES + "|" + ELSEWHERE,
    ),
    row(
        "nomad stop",
        "nomad argocd flux",
        "shutdown_service",
        _STOPS,
        r"^(?:job )?stop\b|^app delete|^suspend\b|^node drain|^system gc",
    ),
    row(
        "aws stop",
        "aws",
        "shutdown_service",
        _STOPS,
        r"^(?:ec2 (?:stop|reboot)-instances|rds (?:stop|reboot|failover)-\S+|ecs (?:stop-task"
        r"|update-service\b.*--desired-count[ =]0)|ssm cancel\S*"
        r"|sagemaker stop-\S+|elasticbeanstalk (?:terminate|restart)-\S+|autoscaling suspend-\S+|cloudfront"
        r" delete-\S+|lambda put-function-concurrency)",
        TRIES,
    ),
    row(
        "gcloud stop",
        "gcloud",
        "shutdown_service",
        _STOPS,
        r"(?:^| )(?:instances?|vms?|clusters?|versions?|services?)\b.* ?(?:stop|suspend|reset|restart|disable)(?= |$)",
    ),
    row("az stop", "az", "shutdown_service", _STOPS, any_of("stop deallocate restart poweroff")),
    row(
        "platform stop",
        "heroku fly flyctl railway doctl hcloud linode-cli",
        "shutdown_service",
        _STOPS,
        r"^(?:ps:(?:stop|kill|restart|scale \S+=0)|dyno:\S+|maintenance:on|scale count 0|machines? (?:stop|kill"
        r"|destroy)|apps? (?:suspend|restart)|down"
        r"|compute droplet-action (?:power-off|shutdown|reboot)|server (?:poweroff|shutdown|reset|reboot)|linodes"
        r" shutdown)(?= |$)",
    ),
    row(
        "virtual machines",
        "virsh VBoxManage vagrant multipass lxc incus qm pct wsl wsl.exe limactl",
        "shutdown_service",
        _STOPS,
        r"^(?:shutdown|reboot|destroy|halt|suspend|stop|--shutdown|--terminate|controlvm \S+ (?:poweroff"
        r"|acpipowerbutton|reset))(?= |$)",
    ),
)
REMOTE = (
    row(
        "ssh",
        "ssh mosh autossh sshpass plink dbclient et",
        "exec_remote",
        _REMOTE,
        r"\S",
        r"^-V$|^-G |^-Q |(?:^| )(?:git@)?(?:github|gitlab|bitbucket|ssh\.github)\.(?:com|org)$|^-[TO] git@\S+$",
    ),
    row(
        "scp",
        "scp rcp sftp pscp psftp lftp sshfs",
        "exec_remote",
        _REMOTE,
        r"(?:^| )(?:[\w.-]+@)?[\w.\[\]:-]*[\w\]]:|@|^[\w.-]+\.\w+|sftp://",
        ASKS,
    ),
    row(
        "rsync",
        "rsync",
        "exec_remote",
        _REMOTE,
        r"(?:^| )(?:[\w.-]+@)?(?![A-Za-z]:\\)[\w.-]{2,}::?(?=\S| |$)|(?:^| )(?:-e|--rsh)(?= |=)|rsync://",
        r"^(?!.*@)(?:-\S+ )*\S*--(?:version|help)|(?:^| )(?:-n|--dry-run)(?= |$)",
    ),
    row(
        "ansible",
        "ansible ansible-playbook ansible-pull ansible-console",
        "exec_remote",
        "runs on the machines of an inventory",
        r"\S",
        r"(?:^| )(?:--syntax-check|--list-(?:hosts|tasks|tags)|--version|--check|-C|-h|--help)(?= |$)"
        r"|^localhost\b|-c local(?= |$)|--connection[ =]local",
    ),
    row(
        "many machines",
        "pssh pdsh clush parallel-ssh dsh mussh salt salt-ssh knife chef-run bolt psexec winrs tsh teleport boundary",
        "exec_remote",
        _REMOTE,
        r"\S",
        ASKS + r"|^(?:ls|status|login|version)\b|test\.ping",
    ),
    row(
        "kubectl exec",
        "kubectl oc k",
        "exec_remote",
        "runs inside of a cluster",
        first("exec cp debug attach rsh rsync"),
        r"^$|" + ELSEWHERE,
    ),
    row(
        "docker -H",
        "docker podman nerdctl",
        "exec_remote",
        _REMOTE,
        r"^(?:-\S+ )*(?:(?:-H|--host|--url)[ =]?(?!unix:)\S|(?:--context|-c)[ =](?!default|desktop-linux|colima"
        r"|orbstack"
        r"|rootless)\S|--remote(?= |$))",
    ),
    row("docker-machine", "docker-machine", "exec_remote", _REMOTE, first("ssh scp")),
    row(
        "cloud shell",
        "aws",
        "exec_remote",
        _REMOTE,
        r"^(?:ssm (?:send-command|start-session|start-automation-execution)|ecs execute-command"
        r"|ec2-instance-connect \S+)",
    ),
    row(
        "cloud shell",
        "gcloud",
        "exec_remote",
        _REMOTE,
        r"(?:^| )(?:compute|tpus tpu-vm|cloud-shell) (?:ssh|scp|tpus tpu-vm ssh)(?= |$)",
    ),
    row(
        "cloud shell",
        "az",
        "exec_remote",
        _REMOTE,
        r"^(?:vm run-command|vmss run-command|ssh (?:vm|arc)|container exec|containerapp exec|webapp ssh|aks"
        r" command invoke)",
    ),
    row(
        "cloud shell",
        "heroku fly flyctl railway render doctl eb copilot",
        "exec_remote",
        _REMOTE,
        r"^(?:run(?::\S+)?|ssh(?: console| sftp)?|console|ps:exec|pg:psql|compute ssh|svc exec|machine exec)(?= |$)",
        ASKS,
    ),
    row("cloud shell", "gh", "exec_remote", _REMOTE, r"^(?:codespace|cs) (?:ssh|cp)"),
    row(
        "Windows",
        "Invoke-Command Enter-PSSession New-PSSession icm wmic",
        "exec_remote",
        _REMOTE,
        r"(?i)-(?:ComputerName|Session|HostName|VMName)|/node:",
    ),
    row(
        "reverse shell",
        "nc ncat netcat socat telnet",
        "exec_remote",
        "gives another machine a shell here",
        r"(?:^| )(?:-\w*[ec]\w* \S*(?:sh|cmd)|--(?:sh-)?exec|EXEC:|SYSTEM:)",
    ),
    row(
        "raw connection",
        "nc ncat netcat",
        "exec_remote",
        "sends what it is given to another machine",
        r"(?:^| )[\w.:-]+ \d{1,5}(?= |$)",
        rf"(?:^| )-\w*[zlU]\w*(?= |$)|(?:^| )(?:localhost|127\.0\.0\.1|::1)(?= )|{ASKS}",
    ),
)
