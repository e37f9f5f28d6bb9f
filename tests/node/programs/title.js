// Writes over its own arguments and changes its environment, as programs do.
process.title = process.argv[2] ?? 'a title';
process.env.NODERAY_TEST_SET = 'since the start';
process.env.NODERAY_TEST_CHANGED = 'in the heap now';
delete process.env.NODERAY_TEST_DELETED;
setInterval(() => {}, 1000);
console.log(JSON.stringify({ pid: process.pid }));
