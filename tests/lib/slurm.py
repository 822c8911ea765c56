"""A Slurm of one node: slurmctld and slurmd on this machine, with their own configuration and without munge."""

import os
import shutil
import socket
import subprocess
import time

CONFIG = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,batch_sched_delay=0
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Returns why Slurm cannot run here; None: it can."""
    if os.geteuid() != 0:
        return "slurmd runs jobs as root"
    tools = [t for t in ("slurmctld", "slurmd", "sbatch", "squeue", "scancel") if not shutil.which(t, path=PATH)]
    return f"{', '.join(tools)} not installed (Debian: slurm-wlm)" if tools else None


PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Slurm:
    def __init__(self, folder):
        os.makedirs(os.path.join(folder, "state"))
        os.makedirs(os.path.join(folder, "spool"))
        self.folder, self.config = folder, os.path.join(folder, "slurm.conf")
        self.host = socket.gethostname().split(".")[0]
        with open(self.config, "w", encoding="utf-8") as f:
            f.write(CONFIG.format(host=self.host, folder=folder, ports=(free_port(), free_port())))
        self.env = {"PATH": PATH, "SLURM_CONF": self.config, "LANG": "C"}
        out = open(os.path.join(folder, "daemons.log"), "w", encoding="utf-8")
        self.children = [subprocess.Popen(argv, env=self.env, stdout=out, stderr=out)
                         for argv in (["slurmctld", "-D", "-c"], ["slurmd", "-D", "-N", self.host])]  # fmt: skip

    def run(self, *argv, **more):
        return subprocess.run(argv, capture_output=True, text=True, timeout=60, env={**self.env, **more.pop("env", {})}, **more)

    def ready(self, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.run("sinfo", "-h", "-o", "%t").stdout.strip() in ("idle", "mix", "alloc"):
                return True
            time.sleep(0.5)
        return False

    def jobs(self):
        """Returns the waiting and running jobs: lines of id, name, state and reason."""
        return self.run("squeue", "-h", "-r", "-o", "%i %j %T %r").stdout.splitlines()

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while self.jobs() and time.monotonic() < end:
            time.sleep(0.5)
        return self.jobs()

    def logs(self):
        said = ""
        for name in ("daemons.log", "slurmctld.log", "slurmd.log"):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as f:
                    said += f"{name}: {f.read()[-1500:]}\n"
        return said

    def close(self):
        self.run("scancel", "--user=root")
        time.sleep(1)
        for child in self.children:
            child.terminate()
        for child in self.children:
            child.wait(timeout=30)
