--[[ advance-offsets: moves offsets of subscriptions in the logs of workspaces, each only from where its batch was read.
  Atomic because: an offset that is no longer there was moved by another dispatcher, or Redis went back to an earlier state. In both cases
  the one in Redis is right, and a write over it would repeat or skip events.
  KEYS n × offsets of the subscription    ARGV n × (workspace · log id from · log id to)
  RETURN "done"    Cost O(n). Never calls TIME. ]]
for n, offsets in ipairs(KEYS) do
  local workspace, from, to = ARGV[3 * n - 2], ARGV[3 * n - 1], ARGV[3 * n]
  if redis.call('HGET', offsets, workspace) == from then redis.call('HSET', offsets, workspace, to) end
end
return 'done'
