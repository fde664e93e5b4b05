// Fastify.
const fastify = require('fastify')();
const {page} = require('./page');
fastify.get('/', (request, reply) => reply.send(page()));
fastify.listen({port: +process.argv[2], host: '127.0.0.1'});
