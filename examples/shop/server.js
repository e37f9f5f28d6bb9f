// A small shop over HTTP: something real enough to look at. Needs nothing but node.
//   node examples/shop/server.js [PORT]       prints {"pid":...,"port":...} when it is ready
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const { Worker } = require('worker_threads');
const { Catalogue } = require('./catalogue.js');

function ledger({ price }) {
	let balance = 0;
	for (let entry = 0; entry < 20000; entry++) balance = (balance * 31 + price * entry) % 1000003;
	return balance;
}

class Shop {
	constructor() {
		this.catalogue = new Catalogue(1000);
		this.carts = new Map();
		this.waiting = new Map();
		this.orders = 0;
		this.receipts = new Worker(path.join(__dirname, 'receipts.js'));
		this.receipts.on('message', ({ id, receipt }) => this.finishOrder(id, receipt));
	}

	handle(request, response) {
		const { pathname, searchParams } = new URL(request.url, 'http://shop');
		const route = this.routes[pathname];
		if (route) route.call(this, response, searchParams);
		else this.send(response, 404, { error: 'no such page' });
	}

	send(response, status, body) {
		response.writeHead(status, { 'content-type': 'application/json' });
		response.end(JSON.stringify(body));
	}

	search(response, parameters) {
		this.send(response, 200, this.catalogue.search(parameters.get('q') || 'lamp'));
	}

	about(response) {
		fs.readFile(__filename, 'utf8', (error, text) => this.send(response, 200, { lines: error ? 0 : text.split('\n').length }));
	}

	addToCart(response, parameters) {
		const customer = parameters.get('customer') || 'somebody';
		const cart = this.carts.get(customer) || [];
		cart.push(Number(parameters.get('product')) || 0);
		this.carts.set(customer, cart.slice(-50));
		this.send(response, 200, { items: cart.length });
	}

	checkOut(response, parameters) {
		const id = ++this.orders;
		const items = this.carts.get(parameters.get('customer')) || [];
		const total = items.reduce((sum, item) => sum + this.catalogue.products[item].price, 0);
		this.waiting.set(id, response);
		this.receipts.postMessage({ id, order: { id, items, total } });
	}

	// What every shop has somewhere: a page that nobody thought would ever take so long.
	report(response) {
		const totals = this.catalogue.products.map((product) => ledger(product));
		this.send(response, 200, { sum: totals.reduce((sum, total) => sum + total, 0) });
	}

	finishOrder(id, receipt) {
		this.send(this.waiting.get(id), 200, receipt);
		this.waiting.delete(id);
	}
}

Shop.prototype.routes = {
	'/search': Shop.prototype.search,
	'/about': Shop.prototype.about,
	'/cart': Shop.prototype.addToCart,
	'/checkout': Shop.prototype.checkOut,
	'/report': Shop.prototype.report,
};

const shop = new Shop();
const server = http.createServer((request, response) => shop.handle(request, response));
server.listen(Number(process.argv[2]) || 0, '127.0.0.1', () =>
	console.log(JSON.stringify({ pid: process.pid, port: server.address().port })));
