// Customers for the shop, until it is stopped.
//   node examples/shop/load.js PORT [CUSTOMERS]
'use strict';
const http = require('http');

const port = Number(process.argv[2]);
const customers = Number(process.argv[3]) || 8;
const agent = new http.Agent({ keepAlive: true, maxSockets: customers });

const pages = ['/search?q=quiet+lamp', '/cart?customer=C&product=N', '/about', '/search?q=reed+chiar', '/checkout?customer=C'];

function visit(customer, step) {
	const path = pages[step % pages.length].replace('C', customer).replace('N', step % 1000);
	const next = () => setTimeout(visit, 5, customer, step + 1);
	http.get({ host: '127.0.0.1', port, path, agent }, (response) => response.resume().on('end', next))
		.on('error', () => process.exit(0)); // the shop has closed
}

// The owner wants to see the report now and then.
setInterval(() => http.get({ host: '127.0.0.1', port, path: '/report' }, (response) => response.resume()).on('error', () => process.exit(0)), 1500);
for (let customer = 0; customer < customers; customer++) visit(customer, customer);
