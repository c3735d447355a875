"""Amazon S3 and EMR for tests: moto's server, whose clusters run their step as a process of this machine.

moto keeps clusters, steps and objects, and never changes a state. This program adds what a test needs:

- A cluster is STARTING and BOOTSTRAPPING, runs its step, and ends with it (KeepJobFlowAliveWhenNoSteps is
  false), or when it is terminated, or when the minutes of its bootstrap action are over. A minute lasts MINUTE
  seconds of the environment.
- command-runner.jar runs the words of the step. STEP_PATH replaces PATH, so that a test chooses hadoop and aws.
- The stderr of a step that failed is stored below LogUri, as the service does.
- botocore's model of EMR validates each request. One that it does not accept is answered with an error.

It prints the address of the server, and ends when its input ends.
"""

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import boto3
import botocore.session
from botocore.validate import ParamValidator
from moto.core.utils import utcnow
from moto.emr import models
from moto.moto_server import threaded_moto_server

MINUTE = float(os.environ.get("MINUTE", "60"))
STATE_SECONDS = 0.2  # of STARTING and of BOOTSTRAPPING
TARGET = "ElasticMapReduce."
JSON = "application/x-amz-json-1.1"

address = ""  # of the server


def s3():
    return boto3.client("s3", endpoint_url=address, region_name="us-east-1",
                        aws_access_key_id="testing", aws_secret_access_key="testing")


def split(uri):
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key


class Life:
    """The life of a cluster, in a thread."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.step = cluster.steps[0]
        self.step.state = "PENDING"
        self.step.start_date_time = None
        self.ended = threading.Event()  # the cluster is asked to end
        self.reason = ""
        cluster.state = "STARTING"
        cluster.life = self
        threading.Thread(target=self.live, daemon=True).start()

    def end(self, reason):
        self.reason = self.reason or reason
        self.ended.set()

    def live(self):
        c = self.cluster
        failed = False
        if not self.ended.wait(STATE_SECONDS):
            c.state = "BOOTSTRAPPING"
            try:
                self.bootstrap()
            except Exception as e:
                failed = True
                self.end(f"On the master instance, bootstrap action 1 failed: {e}")
        if not self.ended.wait(STATE_SECONDS):
            c.state, c.ready_datetime = "RUNNING", utcnow()
            failed = self.run()
        if self.step.state in ("PENDING", "RUNNING"):
            self.step.state = "CANCELLED"
        c.state, c.last_state_change_reason = "TERMINATING", self.reason
        time.sleep(STATE_SECONDS)
        c.end_datetime = utcnow()
        c.state = "TERMINATED_WITH_ERRORS" if failed else "TERMINATED"

    def bootstrap(self):
        """Checks the script of the bootstrap action, and begins its limit."""
        for action in self.cluster.bootstrap_actions:
            bucket, key = split(action.script_path)
            s3().head_object(Bucket=bucket, Key=key)
            timer = threading.Timer(MINUTE * int(action.args[0]), self.end, ["The master node was terminated"])
            timer.daemon = True
            timer.start()

    def run(self):
        """Runs the step, and reports whether it has failed."""
        step = self.step
        step.state, step.start_date_time = "RUNNING", utcnow()
        assert step.jar == "command-runner.jar", step.jar
        env = dict(os.environ, PATH=os.environ.get("STEP_PATH", os.environ["PATH"]), AWS_ENDPOINT_URL_S3=address)
        with tempfile.TemporaryFile() as stderr, tempfile.TemporaryDirectory() as home:
            process = subprocess.Popen(step.args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=stderr, env=dict(env, TMPDIR=home), start_new_session=True)
            while process.poll() is None:
                if self.ended.wait(0.05):  # the processes of a master end with it
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    return "terminated" in self.reason
            step.end_date_time = utcnow()
            if process.returncode == 0:
                step.state = "COMPLETED"
                self.end("Steps completed")
                return False
            stderr.seek(0)
            self.log(stderr.read())
        step.state = "FAILED"
        self.end("Shut down as step failed")
        return True

    def log(self, text):
        bucket, key = split(self.cluster.log_uri)
        name = f"{key}{self.cluster.id}/steps/{self.step.id}/stderr.gz"
        s3().put_object(Bucket=bucket, Key=name, Body=gzip.compress(text))


def run_job_flow(self, create=models.ElasticMapReduceBackend.run_job_flow, **kwargs):
    cluster = create(self, **kwargs)
    Life(cluster)
    return cluster


models.ElasticMapReduceBackend.run_job_flow = run_job_flow
models.Cluster.run_bootstrap_actions = lambda self: None
models.Cluster.terminate = lambda self: self.life.end("Terminated by user request")


class Validated:
    """A WSGI application that refuses requests which botocore's model does not accept."""

    model = botocore.session.Session().get_service_model("emr")

    def __init__(self, app):
        self.app = app

    def __call__(self, environ, start_response):
        target = environ.get("HTTP_X_AMZ_TARGET", "")
        if target.startswith(TARGET):
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            environ["wsgi.input"] = io.BytesIO(body)
            wrong = self.wrong(target.removeprefix(TARGET), json.loads(body))
            if wrong:
                start_response("500 Internal Server Error", [("Content-Type", JSON)])
                return [json.dumps({"__type": "ValidationException", "message": wrong}).encode()]
        return self.app(environ, start_response)

    def wrong(self, operation, params):
        shape = self.model.operation_model(operation).input_shape
        unknown = sorted(set(params) - set(shape.members))
        times = {k for k, v in shape.members.items() if v.type_name == "timestamp"}  # numbers in JSON
        report = ParamValidator().validate({k: v for k, v in params.items() if k not in times}, shape)
        return f"botocore: {report.generate_report()} {unknown}" if unknown or report.has_errors() else ""


def main():
    global address
    server = threaded_moto_server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    create = threaded_moto_server.make_server
    threaded_moto_server.make_server = lambda host, port, app, *rest, **named: create(host, port, Validated(app), *rest, **named)
    server.start()
    address = "http://%s:%d" % server.get_host_and_port()
    print(address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
