// Express.
const express = require('express');
const {page} = require('./page');
const app = express();
app.get('/', (request, response) => response.json(page()));
app.listen(+process.argv[2], '127.0.0.1');
