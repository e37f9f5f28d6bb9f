console.log('ready');
setInterval(() => {}, 1000);
