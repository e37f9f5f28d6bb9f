// A target that does nothing, for as long as it is wanted.
setInterval(() => {}, 1000);
console.log(JSON.stringify({ pid: process.pid, version: process.versions.node, v8: process.versions.v8 }));
