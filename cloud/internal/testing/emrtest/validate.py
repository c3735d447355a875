"""Validates requests with botocore's own model of the services.

Reads lines of JSON, {"Service": "emr", "Operation": "RunJobFlow", "Parameters": {…}}, as
driver-aws prints them with --dry-run --json, and prints those that the model refuses.
"""

import json
import sys

import botocore.session
from botocore.validate import ParamValidator


def main():
    session = botocore.session.Session()
    read = wrong = 0
    for line in sys.stdin:
        call = json.loads(line)
        service, name, params = call["Service"], call["Operation"], call["Parameters"]
        shape = session.get_service_model(service).operation_model(name).input_shape
        unknown = sorted(set(params) - set(shape.members))
        report = ParamValidator().validate(params, shape)
        read += 1
        if unknown or report.has_errors():
            wrong += 1
            print(f"{service} {name}: {report.generate_report()} {unknown or ''}")
    print(f"{read} requests, {wrong} wrong")
    return 1 if wrong or not read else 0


if __name__ == "__main__":
    sys.exit(main())
