"""Makes a file of tuned choices from the plugin's lines: one that is taken, one that cannot be had, a stale one."""

import json
import sys

OPTIONS = {"scale": {"tile": "64"}, "renamed": {"strategy": "hybrid"}, "other": {"tile": "32"}}
entries = []
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        if line.startswith("pollyrs-choice "):
            told = json.loads(line.split(" ", 1)[1])
            content = told["content"] if told["function"] != "other" else "0123456789abcdef"
            entries.append({"function": told["function"], "content": content, "scop": told["scop"], "options": OPTIONS[told["function"]],
                            "ms": 1.0, "model_ms": 2.0})
print(json.dumps({"format": 1, "device": "a test", "entries": entries}))
