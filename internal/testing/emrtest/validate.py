"""Holds requests against botocore's own model of the services.

Reads lines of JSON, {"Service": "emr", "Operation": "RunJobFlow", "Parameters": {…}}, as
driver prints them with --dry-run --json, and says which are not as the model wants them.
With the address of a moto server the calls that moto knows are made there, too.
"""

import json
import sys

import boto3
import botocore.session
from botocore.validate import ParamValidator

KNOWN = {"RunJobFlow": "run_job_flow"}


def main(moto=None):
    session = botocore.session.Session()
    read = wrong = 0
    for line in sys.stdin:
        call = json.loads(line)
        service, name, params = call["Service"], call["Operation"], call["Parameters"]
        operation = session.get_service_model(service).operation_model(name)
        unknown = sorted(set(params) - set(operation.input_shape.members))
        report = ParamValidator().validate(params, operation.input_shape)
        read += 1
        if unknown or report.has_errors():
            wrong += 1
            print(f"{service} {name}: {report.generate_report()} {unknown or ''}")
        elif moto and service == "emr" and name in KNOWN:
            client = boto3.client(service, endpoint_url=moto)
            cluster = getattr(client, KNOWN[name])(**params)["JobFlowId"]
            steps = params.get("Steps", [])
            found = client.list_steps(ClusterId=cluster)["Steps"]
            if client.describe_cluster(ClusterId=cluster)["Cluster"]["Name"] != params["Name"] or len(found) != len(steps):
                wrong += 1
                print(f"moto made another cluster of {name}: {found}")
            if steps:
                added = client.add_job_flow_steps(JobFlowId=cluster, Steps=steps)["StepIds"]
                if len(added) != len(steps):
                    wrong += 1
                    print(f"moto added {added}")
    print(f"{read} requests, {wrong} wrong")
    return 1 if wrong or not read else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
