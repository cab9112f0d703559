--[[ acquire-lease: gives the right to sweep a list to the first process that asks, with a fencing token that only grows.
  Atomic because: two processes must not both find the lease free, and a token must be higher than every earlier one.
  The first token is random: after `forget`, a workspace must not give out its old tokens again, or a process that was suspended
  meanwhile could still write.
  KEYS 1 lease · 2 fence    ARGV 1 TTL in ms · 2 first token if there is no counter
  RETURN {"acquired", token} · {"held", token of the holder, ms left}    Cost O(1). ]]
local holder = redis.call('GET', KEYS[1])
if holder then return { 'held', holder, redis.call('PTTL', KEYS[1]) } end
redis.call('SET', KEYS[2], ARGV[2], 'NX')
local token = tostring(redis.call('INCR', KEYS[2]))
redis.call('SET', KEYS[1], token, 'PX', ARGV[1])
return { 'acquired', token }
