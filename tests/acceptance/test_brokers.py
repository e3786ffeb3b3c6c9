"""Brokers and caches of other kinds than the embedded one: see docs/brokers.md."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from embedded import binaries, fleet
from embedded.processes import Processes
from jobs.engine.process import runtime
from tests.acceptance import rabbitmq
from tests.acceptance.following import ended
from tests.factories import ThingFactory
from tests.waiting import wait_until

pytestmark = pytest.mark.long("TLS to a broker, and a cluster that is refused")

REDIS = shutil.which("redis-server")  # the embedded Valkey was built without TLS
READ = """
import json
from jobs import results
from jobs.models import Job
print(json.dumps(results.load(Job.objects.get(pk={job_id})).value))
"""
CONNECT = """
from jobs.worker.message import run_attempt
run_attempt.app.connection_for_write().connect()
"""
CERTIFICATES = """
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=test CA" -keyout ca.key -out ca.pem
openssl req -newkey rsa:2048 -nodes -subj "/CN=127.0.0.1" -keyout server.key -out server.csr
printf "subjectAltName=IP:127.0.0.1" > names
openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem
"""


@pytest.fixture
def certificates(tmp_path: Path) -> None:
    """An authority of our own, and its certificate for 127.0.0.1."""
    subprocess.run(["sh", "-ec", CERTIFICATES], cwd=tmp_path, check=True, capture_output=True)


@pytest.fixture
def server_with_tls(tmp_path: Path, processes: Processes, certificates: None) -> str:
    """The address of a Redis that only speaks TLS."""
    port = str(fleet.free_port())
    command = [REDIS, "--port", "0", "--tls-port", port, "--tls-auth-clients", "no", "--save", ""]
    for option, name in {"cert": "server.pem", "key": "server.key", "ca-cert": "ca.pem"}.items():
        command += [f"--tls-{option}-file", str(tmp_path / name)]
    process = processes.start("redis", command, log=tmp_path / "redis.log")
    process.wait_until(lambda: fleet.listens(int(port)))
    return f"rediss://127.0.0.1:{port}"


@pytest.mark.skipif(not REDIS, reason="redis-server is not installed")
@pytest.mark.django_db(transaction=True)
def test_jobs_and_results_go_by_tls_to_a_server_of_our_own_authority(server_with_tls, environ, start_worker, tmp_path):
    runtime.change(carrier=lambda claimed: None)  # our broker is another: what we claim, the worker's clock sends
    verified = f"?ssl_cert_reqs=required&ssl_ca_certs={tmp_path / 'ca.pem'}"
    environ["CELERY_BROKER_URL"] = f"{server_with_tls}/0{verified}"
    environ["CACHE_URL"] = f"{server_with_tls}/1{verified}"
    start_worker(concurrency=1)
    job = ended(ThingFactory().async_.echo("a secret"))
    assert (job.status, job.attempt) == ("success", 1)
    argv, their_environ = fleet.manage("shell", "--verbosity", "0", "-c", READ.format(job_id=job.pk), environ=environ)
    read = subprocess.run(argv, env=their_environ, check=True, capture_output=True, text=True).stdout
    assert json.loads(read) == ["a secret"]


@rabbitmq.INSTALLED
@pytest.mark.django_db(transaction=True)
def test_jobs_go_by_tls_to_a_rabbitmq_whose_certificate_has_its_name(certificates, environ, start_worker, tmp_path):
    runtime.change(carrier=lambda claimed: None)
    port = fleet.free_port()
    files = {"cacertfile": "ca.pem", "certfile": "server.pem", "keyfile": "server.key"}
    lines = [f"ssl_options.{name} = {tmp_path / file}" for name, file in files.items()]
    configuration = "\n".join([f"listeners.ssl.default = {port}", *lines, ""])
    with rabbitmq.running(tmp_path, quorum=False, configuration=configuration):
        wait_until(lambda: fleet.listens(port), "RabbitMQ speaks TLS")
        environ |= {
            "CELERY_BROKER_URL": f"amqps://guest:guest@127.0.0.1:{port}//",
            "SSL_CERT_FILE": f"{tmp_path}/ca.pem",
        }
        start_worker(concurrency=1)
        job = ended(ThingFactory().async_.echo("a secret"))
        assert (job.status, job.attempt) == ("success", 1)
        other_name = environ | {"CELERY_BROKER_URL": f"amqps://guest:guest@localhost:{port}//"}
        argv, their_environ = fleet.manage("shell", "--verbosity", "0", "-c", CONNECT, environ=other_name)
        done = subprocess.run(argv, env=their_environ, check=False, capture_output=True, text=True)
        assert "Hostname mismatch" in done.stderr


@pytest.fixture
def cluster(tmp_path: Path, processes: Processes) -> str:
    port = fleet.free_port()
    command = [str(binaries.valkey()), "--port", str(port), "--cluster-enabled", "yes", "--dir", str(tmp_path)]
    command += ["--cluster-port", str(fleet.free_port())]  # by default 10,000 above the other, which may be too high
    cluster = processes.start("cluster", command, log=tmp_path / "cluster.log")
    cluster.wait_until(lambda: fleet.listens(port))
    return f"redis://127.0.0.1:{port}/1"


def test_a_worker_refuses_a_cluster_as_its_broker(cluster, processes, tmp_path):
    command = fleet.worker("default", 1, f"cluster-{os.getpid()}", os.environ | {"CELERY_BROKER_URL": cluster})
    worker = processes.start("worker", *command, log=tmp_path / "worker.log")
    wait_until(lambda: not worker.alive, "the worker ends")
    assert worker.returncode == os.EX_CONFIG
    assert "without cluster mode" in (tmp_path / "worker.log").read_text()
