--[[ acquire-lease: gives the right to sweep a list to the first process that asks, and the state of the workspace in which it holds.
  Atomic because: two processes must not both find the lease free.
  The token is the client's and random. A counter here would go back with a Redis that loses writes, and give one token to two processes,
  which could then both write. A client that lost the answer sends the command again and finds its own token.
  KEYS 1 lease · 2 state    ARGV 1 TTL in ms · 2 token, different for every attempt to get the lease
  RETURN {"acquired", state or ""} · {"held", token of the holder, ms left}    Cost O(1). ]]
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[2] then return { 'held', holder, redis.call('PTTL', KEYS[1]) } end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
return { 'acquired', redis.call('GET', KEYS[2]) or '' }
