--[[ advance-offsets: moves offsets of a subscription in the logs of workspaces, each only from where its batch was read.
  Atomic because: an offset that is no longer there was moved by another dispatcher, or Redis went back to an earlier state. In both cases
  the one in Redis is right, and a write over it would repeat or skip events.
  KEYS 1 offsets    ARGV n × (workspace · log id from · log id to)
  RETURN "done"    Cost O(n). Never calls TIME. ]]
for at = 1, #ARGV, 3 do
  if redis.call('HGET', KEYS[1], ARGV[at]) == ARGV[at + 1] then redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 2]) end
end
return 'done'
