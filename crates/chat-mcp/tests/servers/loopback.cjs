// The servers of the conformance checks would listen on all networks of the machine: here they listen on loopback alone.
// The checks ask for a server's port at once, so its host cannot be given to listen(), which looks that up first.
"use strict";

const { Server } = require("node:net");

const listen = Server.prototype._listen2;
if (typeof listen !== "function") throw new Error("This Node lets servers listen in another way.");

Server.prototype._listen2 = function (address, port, family, ...more) {
    return listen.call(this, address ?? "127.0.0.1", port, address ? family : 4, ...more);
};
