# Serves one model with llama.cpp's server on a free port of 127.0.0.1, prints the port, and ends
# when its standard input does: so it never outlives the test that started it.
import os
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
# Its name would be the path of its file.
params.model_alias = {"SmolLM2-135M-Instruct"}
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = int(sys.argv[2])
params.n_parallel = 1
# On a busy machine two threads are far slower than one.
params.cpuparams.n_threads = 1
params.use_jinja = True
# A small model that is left to chance may talk until its window is full.
params.sampling.temp = 0.0
params.n_predict = 512
server = xllamacpp.Server(params)
print(server.listening_address.rsplit(":", 1)[1], flush=True)
sys.stdin.read()
# Without the server's farewell, which would wait for a reply at work.
os._exit(0)
